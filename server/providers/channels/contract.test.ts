import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeOutboxMail, type OutboxRow } from '#providers/mail/outbox'
import * as discord from '#test/fakes/channels/discord'
import * as receiver from '#test/fakes/channels/receiver'
import type { FakeVendor, Sent } from '#test/fakes/channels/server'
import * as slack from '#test/fakes/channels/slack'
import * as telegram from '#test/fakes/channels/telegram'
import * as whatsapp from '#test/fakes/channels/whatsapp'
import { type Channels, makeChannels } from './channels.ts'
import {
  BUTTON_PREFIX,
  type ChannelConfig,
  type ChannelName,
  channelNames,
  InboundMalformed,
  type InboundMessage,
  SignatureRefused,
} from './index.ts'
import { splitText, storable } from './text.ts'

type Request = { raw: string | Buffer; headers: Record<string, string> }

/** The configuration of each vendor, the requests that its service sends, and forged requests. */
type Vendor = {
  config: ChannelConfig
  /** The name of a credential without which no message is accepted. */
  secret: string
  says(text: string, options?: { forged?: boolean; ago?: number }): Request
  expected: Partial<InboundMessage>
  /** Whether the signature includes a time. */
  timed: boolean
  /** A recipient to whom the vendor refuses to deliver. */
  gone: string
  someone: string
}

const ago = (seconds = 0): number => Math.floor(Date.now() / 1000) - seconds

let fakes: Record<'slack' | 'telegram' | 'whatsapp' | 'discord' | 'webhook', FakeVendor>
let channels: Channels
let vendors: Record<ChannelName, Vendor>
const mails: OutboxRow[] = []

beforeAll(async () => {
  fakes = {
    slack: await slack.startSlack(),
    telegram: await telegram.startTelegram(),
    whatsapp: await whatsapp.startWhatsapp(),
    discord: await discord.startDiscord(),
    webhook: await receiver.startReceiver(),
  }
  const outgoing = makeOutgoing({ allowTargets: [new URL(fakes.webhook.base).host] })
  channels = makeChannels({
    bases: {
      slack: fakes.slack.base,
      telegram: fakes.telegram.base,
      whatsapp: fakes.whatsapp.base,
      discord: fakes.discord.base,
    },
    mail: makeOutboxMail({ store: async (row) => void mails.push(row) }),
    outgoing,
  })
  vendors = {
    slack: {
      config: {
        external_id: 'T0HOME',
        credentials: { bot_token: slack.SLACK_TOKEN, signing_secret: slack.SLACK_SECRET },
      },
      secret: 'signing_secret',
      says: (text, { forged, ago: seconds } = {}) =>
        slack.fromSlack(slack.slackMessage(text), { at: ago(seconds), ...(forged && { secret: 'another' }) }),
      expected: { conversation: 'D0DIRECT:U0PERSON', address: { channel: 'D0DIRECT' } },
      timed: true,
      gone: 'CGONE',
      someone: 'C0CHANNEL',
    },
    telegram: {
      config: {
        external_id: 'heddle_bot',
        credentials: { bot_token: telegram.TELEGRAM_TOKEN, secret_token: telegram.TELEGRAM_SECRET },
      },
      secret: 'secret_token',
      says: (text, { forged } = {}) =>
        telegram.fromTelegram(telegram.telegramMessage(text), forged ? 'another' : telegram.TELEGRAM_SECRET),
      expected: { conversation: '77:77', sender: { id: '77', name: 'Ada' }, address: { chat_id: '77' } },
      timed: false,
      gone: '403',
      someone: '77',
    },
    whatsapp: {
      config: {
        external_id: whatsapp.PHONE_ID,
        credentials: {
          access_token: whatsapp.WHATSAPP_TOKEN,
          app_secret: whatsapp.WHATSAPP_SECRET,
          verify_token: whatsapp.WHATSAPP_VERIFY,
        },
      },
      secret: 'app_secret',
      says: (text, { forged } = {}) =>
        whatsapp.fromWhatsapp(whatsapp.whatsappMessage(text), forged ? 'another' : whatsapp.WHATSAPP_SECRET),
      expected: { conversation: '16505551234', sender: { id: '16505551234', name: 'Sheena' } },
      timed: false,
      gone: '4900000',
      someone: '16505551234',
    },
    discord: {
      config: {
        external_id: '845027738276462632',
        credentials: { bot_token: discord.DISCORD_TOKEN, public_key: discord.DISCORD_PUBLIC_KEY },
      },
      secret: 'public_key',
      says: (text, { forged, ago: seconds } = {}) =>
        discord.fromDiscord(discord.discordCommand(text), { at: ago(seconds), ...(forged && { forged }) }),
      expected: {
        conversation: '772908445358620702:53908232506183680',
        sender: { id: '53908232506183680', name: 'Mason' },
      },
      timed: true,
      gone: '404404',
      someone: '772908445358620702',
    },
    email: {
      config: { external_id: 'help@acme.example', credentials: { inbound_secret: 'inbound-secret-1' } },
      secret: 'inbound_secret',
      says: (text, { forged } = {}) => ({
        raw: `From: Ada Lovelace <Ada@Example.org>\r\nTo: help@acme.example\r\nSubject: A question\r\nMessage-ID: <${Math.random()}@example.org>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n\r\nOn Monday somebody wrote:\r\n> earlier words\r\n`,
        headers: { 'content-type': 'message/rfc822', 'x-inbound-secret': forged ? 'another' : 'inbound-secret-1' },
      }),
      expected: { conversation: 'ada@example.org', sender: { id: 'ada@example.org', name: 'Ada Lovelace' } },
      timed: false,
      gone: 'not an address@',
      someone: 'ada@example.org',
    },
    webhook: {
      config: { external_id: fakes.webhook.base, credentials: { signing_secret: receiver.WEBHOOK_SECRET } },
      secret: 'signing_secret',
      says: (text, { forged, ago: seconds } = {}) =>
        receiver.fromWebhook(
          { sender_id: 'u1', sender_name: 'Ada', conversation_id: 'c1', text },
          { at: new Date(ago(seconds) * 1000), ...(forged && { secret: 'whsec_YW5vdGhlcg==' }) },
        ),
      expected: { sender: { id: 'u1', name: 'Ada' }, address: { sender_id: 'u1', conversation_id: 'c1' } },
      timed: true,
      gone: '',
      someone: 'u1',
    },
  }
})
afterAll(() => Promise.all(Object.values(fakes).map((fake) => fake.close())))
beforeEach(() => {
  mails.length = 0
  for (const fake of Object.values(fakes)) {
    fake.sent.length = 0
    fake.refused.length = 0
  }
})

const receive = (name: ChannelName, { raw, headers }: Request, config = vendors[name].config, now = new Date()) =>
  channels[name].receive({ headers, body: Buffer.from(raw), now }, config)

const sentBy = (name: ChannelName): Sent[] =>
  name === 'email'
    ? mails.map((mail) => ({ to: mail.recipient[0]!, text: mail.body_text!, key: mail.idempotency_key }))
    : fakes[name].sent

const send = (name: ChannelName, text: string, more: { to?: string; key?: string } = {}) => {
  const { config, someone } = vendors[name]
  const address = channels[name].addressOf(more.to ?? someone)
  return channels[name].send(config, {
    address: address!,
    text,
    key: more.key ?? `key-${Math.random()}`,
    workspaceId: 'w',
  })
}

const mailOf = (content: string, type = 'text/html'): Request => ({
  raw: `From: Ada <ada@example.org>\r\nContent-Type: ${type}\r\n\r\n${content}`,
  headers: { 'content-type': 'message/rfc822', 'x-inbound-secret': 'inbound-secret-1' },
})

/** A request signed with an empty secret, from an attacker who hopes that a missing secret counts as an empty one. */
function signedWithNothing(name: ChannelName): Request {
  switch (name) {
    case 'slack':
      return slack.fromSlack(slack.slackMessage('hello'), { secret: '' })
    case 'whatsapp':
      return whatsapp.fromWhatsapp(whatsapp.whatsappMessage('hello'), '')
    case 'telegram':
      return telegram.fromTelegram(telegram.telegramMessage('hello'), '')
    case 'email':
      return { ...vendors.email.says('hello'), headers: { 'x-inbound-secret': '', authorization: 'Basic Og==' } }
    case 'discord':
      return discord.fromDiscord(discord.discordCommand('hello'), { forged: true })
    case 'webhook': {
      const request = vendors.webhook.says('hello')
      const { 'webhook-id': id, 'webhook-timestamp': at } = request.headers
      const mac = createHmac('sha256', '').update(`${id}.${at}.${request.raw}`).digest('base64')
      return { ...request, headers: { ...request.headers, 'webhook-signature': `v1,${mac}` } }
    }
  }
}

describe.each(channelNames)('%s', (name) => {
  test('returns the text that a person wrote', async () => {
    const { messages } = await receive(name, vendors[name].says('How are you? <3 & 😀'))
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({ text: 'How are you? <3 & 😀', ...vendors[name].expected })
    expect(messages[0]!.deliveryId).not.toBe('')
  })

  test('gives a repeated message the same id and a new message a new id', async () => {
    const request = vendors[name].says('again')
    const [first, second, third] = await Promise.all([
      receive(name, request),
      receive(name, request),
      receive(name, vendors[name].says('again')),
    ])
    expect(first!.messages[0]!.deliveryId).toBe(second!.messages[0]!.deliveryId)
    expect(first!.messages[0]!.deliveryId).not.toBe(third!.messages[0]!.deliveryId)
  })

  test('refuses a wrong, an empty, a truncated and a missing signature, and a body that was not signed', async () => {
    const { says } = vendors[name]
    await expect(receive(name, says('hello', { forged: true }))).rejects.toThrow(SignatureRefused)
    const right = says('hello')
    const unsigned = { ...right, headers: { 'content-type': right.headers['content-type']! } }
    await expect(receive(name, unsigned)).rejects.toThrow(SignatureRefused)
    for (const header of Object.keys(right.headers).filter((key) => key !== 'content-type')) {
      for (const value of ['', right.headers[header]!.slice(0, -1), `${right.headers[header]}0`]) {
        await expect(receive(name, { ...right, headers: { ...right.headers, [header]: value } })).rejects.toThrow(
          SignatureRefused,
        )
      }
    }
    if (name === 'telegram' || name === 'email') return
    await expect(receive(name, { ...right, raw: `${right.raw} ` })).rejects.toThrow(SignatureRefused)
  })

  test('refuses every request while its secret is missing or empty, even a request signed with an empty secret', async () => {
    const { config, secret, says } = vendors[name]
    const { [secret]: _gone, ...rest } = config.credentials
    for (const credentials of [rest, { ...rest, [secret]: '' }])
      for (const request of [says('hello'), signedWithNothing(name)])
        await expect(receive(name, request, { ...config, credentials })).rejects.toThrow(SignatureRefused)
  })

  test('refuses a request signed more than 300 s ago or more than 300 s ahead', async () => {
    const { timed, says } = vendors[name]
    if (!timed) return
    await expect(receive(name, says('old', { ago: 310 }))).rejects.toThrow(SignatureRefused)
    await expect(receive(name, says('early', { ago: -310 }))).rejects.toThrow(SignatureRefused)
    expect((await receive(name, says('just in time', { ago: 290 }))).messages).toHaveLength(1)
  })

  test('sends an answer to the address the message came from', async () => {
    const { config, says } = vendors[name]
    const { messages } = await receive(name, says('hello'))
    await channels[name].send(config, { address: messages[0]!.address, text: 'Hi & <b>', key: 'k1', workspaceId: 'w' })
    const text = name === 'slack' ? 'Hi &amp; &lt;b&gt;' : 'Hi & <b>'
    expect(sentBy(name)).toMatchObject([{ text }])
    if (name !== 'email') expect(fakes[name].refused).toEqual([])
  })

  test('distinguishes an unreachable recipient from an unreachable vendor', async () => {
    if (name === 'email') {
      expect(channels.email.addressOf('not an address@')).toBeUndefined()
      return
    }
    const fake = fakes[name]
    if (name === 'webhook') fake.next({ status: 410, body: {} })
    await expect(send(name, 'hello', name === 'webhook' ? {} : { to: vendors[name].gone })).rejects.toMatchObject({
      code: 'refused',
      retryable: false,
    })
    fake.next({ status: 503, body: 'busy' })
    await expect(send(name, 'hello')).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    fake.next('hang up')
    await expect(send(name, 'hello')).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('returns the delay that the vendor requests', async () => {
    if (name === 'email') return
    const busy =
      name === 'telegram'
        ? telegram.telegramBusy(7)
        : { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '7' } }
    fakes[name].next(busy)
    await expect(send(name, 'hello')).rejects.toMatchObject({ code: 'rate_limited', retryAfterS: 7, retryable: true })
    if (name !== 'webhook') return
    const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
    fakes[name].next({ status: 429, body: {}, headers: { date, 'retry-after': 'Wed, 21 Oct 2026 07:30:00 GMT' } })
    await expect(send(name, 'hello')).rejects.toMatchObject({ code: 'rate_limited', retryAfterS: 120 })
  })

  test('reports a wrong token as a refusal that does not contain the token', async () => {
    if (name === 'email' || name === 'webhook') return
    const { config, someone } = vendors[name]
    const credentials = Object.fromEntries(Object.keys(config.credentials).map((key) => [key, 'wrong-token']))
    const error = await channels[name]
      .send(
        { ...config, credentials },
        { address: channels[name].addressOf(someone)!, text: 'x', key: 'k', workspaceId: 'w' },
      )
      .catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'refused' })
    expect(String((error as Error).message)).not.toContain('wrong-token')
  })
})

describe('the special cases of each vendor', () => {
  test('Slack receives its challenge back, and messages of bots and other teams are ignored', async () => {
    const challenge = await receive(
      'slack',
      slack.fromSlack({ type: 'url_verification', challenge: 'abc', token: 't' }),
    )
    expect(challenge.answer).toEqual({ contentType: 'text/plain', body: 'abc' })
    for (const more of [{ bot_id: 'B1' }, { subtype: 'channel_join' }, { type: 'reaction_added' }])
      expect((await receive('slack', slack.fromSlack(slack.slackMessage('x', more)))).messages).toEqual([])
    const elsewhere = { ...slack.slackMessage('x'), team_id: 'T0OTHER' }
    expect((await receive('slack', slack.fromSlack(elsewhere))).messages).toEqual([])
  })

  test('a mention in a Slack channel is answered in its thread and delivered once', async () => {
    const place = { channel: 'C0ROOM', channel_type: 'channel', ts: '1700.01' }
    const [message, mention] = await Promise.all(
      ['message', 'app_mention'].map((type) =>
        receive('slack', slack.fromSlack(slack.slackMessage('<@U0BOT> run it', { ...place, type }))),
      ),
    )
    expect(mention!.messages[0]).toMatchObject({
      text: 'run it',
      address: { channel: 'C0ROOM', thread_ts: '1700.01' },
      deliveryId: message!.messages[0]!.deliveryId,
    })
  })

  test('WhatsApp receives its challenge only with the right token, and messages to other phone numbers are ignored', async () => {
    const { config } = vendors.whatsapp
    const query = (token: string) => ({ 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158' })
    expect(channels.whatsapp.handshake!(query(whatsapp.WHATSAPP_VERIFY), config).body).toBe('1158')
    for (const token of ['', 'wrong'])
      expect(() => channels.whatsapp.handshake!(query(token), config)).toThrow(SignatureRefused)
    expect(() => channels.whatsapp.handshake!(query(''), { ...config, credentials: {} })).toThrow(SignatureRefused)
    const other = whatsapp.whatsappMessage('x', { phone: '999' })
    expect((await receive('whatsapp', whatsapp.fromWhatsapp(other))).messages).toEqual([])
  })

  const OURS = '0198f2f2-7d2a-7c2b-9f3e-0a1b2c3d4e5f'
  const late = 'More than 24 hours have passed since the customer last replied.'
  test.each<[string, unknown, { reportId: string; reason: string }[]]>([
    [
      'a failure',
      whatsapp.whatsappStatus('failed', OURS),
      [{ reportId: OURS, reason: `WhatsApp did not deliver the message (code 131047): ${late}` }],
    ],
    [
      'a failure with a title only',
      whatsapp.whatsappStatus('failed', OURS, { errors: [{ code: 131026, title: 'Undeliverable\0' }] }),
      [{ reportId: OURS, reason: 'WhatsApp did not deliver the message (code 131026): Undeliverable' }],
    ],
    [
      'a failure without a reason',
      whatsapp.whatsappStatus('failed', OURS, { errors: [] }),
      [{ reportId: OURS, reason: 'WhatsApp did not deliver the message (code 0): no reason given' }],
    ],
    ...['sent', 'delivered', 'read'].map((status): [string, unknown, []] => [
      `a message that was ${status}`,
      whatsapp.whatsappStatus(status, OURS),
      [],
    ]),
    ['a failure of another program', whatsapp.whatsappStatus('failed', 'order 7'), []],
    ['a failure without our data', whatsapp.whatsappStatus('failed'), []],
    ['a failure of another number', whatsapp.whatsappStatus('failed', OURS, { phone: '999' }), []],
  ])('WhatsApp reports %s', async (_what, body, undelivered) => {
    const read = await receive('whatsapp', whatsapp.fromWhatsapp(body))
    expect([read.undelivered, read.messages]).toEqual([undelivered, []])
    await expect(receive('whatsapp', whatsapp.fromWhatsapp(body, 'another'))).rejects.toThrow(SignatureRefused)
  })

  test('Discord receives a PONG for a PING, and the response to a command quotes the command', async () => {
    const ping = await receive('discord', discord.fromDiscord({ id: '1', type: 1 }))
    expect(JSON.parse(ping.answer.body)).toEqual({ type: 1 })
    const shown = await receive('discord', discord.fromDiscord(discord.discordCommand('one\ntwo')))
    expect(JSON.parse(shown.answer.body)).toMatchObject({ type: 4, data: { content: '> one\n> two' } })
    for (const long of ['a\n'.repeat(2500), `${'a'.repeat(1899)}${'😀'.repeat(100)}`]) {
      const { answer, messages } = await receive('discord', discord.fromDiscord(discord.discordCommand(long)))
      expect(messages[0]!.text).toBe(long.trim())
      const { content } = JSON.parse(answer.body).data
      expect(content.length).toBeLessThanOrEqual(2000)
      expect(content.isWellFormed()).toBe(true)
    }
  })

  test('the documented registration at Telegram asks for every kind of update that is read, so that buttons work', async () => {
    const document = await readFile(new URL('../../../docs/channels.md', import.meta.url), 'utf8')
    const allowed: string[] = JSON.parse(/allowed_updates=(\[.*?\])/.exec(document)![1]!)
    for (const update of [telegram.telegramMessage('Hello'), telegram.telegramPress(`${BUTTON_PREFIX}x`)]) {
      const { messages, press } = await receive('telegram', telegram.fromTelegram(update))
      expect(messages.length + (press ? 1 : 0)).toBe(1)
      expect(allowed).toContain(Object.keys(update).find((key) => key !== 'update_id'))
    }
  })

  test('a Slack message with an unknown outcome is looked up in the history, where allowed, before it is sent again', async () => {
    const { config } = vendors.slack
    const send = (address: Record<string, string>, key: string, triedSince?: Date) =>
      channels.slack.send(config, { address, text: key, key, workspaceId: 'w', ...(triedSince && { triedSince }) })
    const since = new Date()
    const places: Record<string, string>[] = [
      { channel: 'D0DIRECT' },
      { channel: 'C0CHANNEL', thread_ts: '1700000000.000100' },
    ]
    for (const address of places) {
      fakes.slack.sent.length = 0
      fakes.slack.next('take and hang up')
      await expect(send(address, 'once')).rejects.toMatchObject({ code: 'unavailable' })
      await send(address, 'once', since)
      expect(fakes.slack.sent).toHaveLength(1)
      fakes.slack.next('hang up')
      await expect(send(address, 'lost')).rejects.toMatchObject({ code: 'unavailable' })
      await send(address, 'lost', since)
      expect(fakes.slack.sent.map(({ text }) => text)).toEqual(['once', 'lost'])
    }
    await send({ channel: 'G0PRIVATE' }, 'where nobody may look', since)
    expect(fakes.slack.sent.at(-1)?.text).toBe('where nobody may look')
  })

  test('Discord accepts a repeated message only once', async () => {
    await send('discord', 'once', { key: 'the same' })
    await send('discord', 'once', { key: 'the same' })
    expect(fakes.discord.sent).toHaveLength(1)
  })

  test('an e-mail is read without its quotations; automatic and forged e-mails are ignored', async () => {
    const { says } = vendors.email
    expect((await receive('email', says('New words'))).messages[0]!.text).toBe('New words')
    for (const header of [
      'Auto-Submitted: auto-replied',
      'Precedence: bulk',
      'Authentication-Results: mx; dmarc=fail',
    ]) {
      const request = says('x')
      expect((await receive('email', { ...request, raw: `${header}\r\n${request.raw}` })).messages).toEqual([])
    }
    const json = {
      raw: JSON.stringify({ from: 'Bob <bob@example.org>', subject: 'Hi', text: 'Words', message_id: '<1@x>' }),
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from('mail:inbound-secret-1').toString('base64')}`,
      },
    }
    expect((await receive('email', json)).messages[0]).toMatchObject({ text: 'Words', sender: { name: 'Bob' } })
  })

  test('an e-mail that contains only HTML is read without its tags', async () => {
    const html =
      '<style>p { color: red }</style ><P>One &lt;two&gt;</P>three<br />four <b>five</b><script>if (a < b) x()</script> six < 7'
    const { messages } = await receive('email', mailOf(html))
    expect(messages[0]!.text.replaceAll(/ +/g, ' ')).toBe('One <two>\nthree\nfour five six < 7')
    expect((await receive('email', mailOf('Hello <script>unseen'))).messages[0]!.text).toBe('Hello')
  })

  test('an e-mail is read up to the limit for its text and no further', async () => {
    const first = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nWords\r\n--b\r\n'
    const attached = `Content-Type: image/png\r\n\r\n${'\n'.repeat(5000)}\r\n--b\r\n\r\nToo late\r\n--b--`
    const { headers } = mailOf('')
    const { messages } = await receive('email', { raw: `From: ada@example.org\r\n${first}${attached}`, headers })
    expect(messages[0]!.text).toBe('Words')
    const endless = { raw: `From: ada@example.org\r\nTo: ${'g:'.repeat(50_000)}\r\n\r\nWords`, headers }
    await expect(receive('email', endless)).rejects.toThrow(InboundMalformed)
  })

  test('a Slack link is read as its label or its address', async () => {
    const text = '<https://a.example|A> <https://b.example> <mailto:c@d.example|c@d.example> <!here> <|x> &lt;b&gt;'
    const { messages } = await receive('slack', slack.fromSlack(slack.slackMessage(text)))
    expect(messages[0]!.text).toBe('A https://b.example c@d.example <!here> <|x> <b>')
  })

  // With a pattern of quadratic complexity these messages take minutes, and the test times out.
  test.each(['<', '<script ', '<style>', '<br ', '</p', '\n', ' on ', '<|', '<https://x|', '<@U', '&lt;'])(
    'a message that only repeats %j is read as fast as any other',
    async (piece) => {
      const text = piece.repeat(Math.floor(900_000 / piece.length))
      for (const request of [mailOf(text), mailOf(text, 'text/plain'), slack.fromSlack(slack.slackMessage(text))])
        await receive(request.headers['x-slack-signature'] === undefined ? 'email' : 'slack', request)
    },
  )

  test('webhook replies are sent only to public addresses', async () => {
    const config = { ...vendors.webhook.config, external_id: 'http://127.0.0.1:9/reply' }
    await expect(
      channels.webhook.send(config, { address: { sender_id: 'u' }, text: 'x', key: 'k', workspaceId: 'w' }),
    ).rejects.toMatchObject({ code: 'refused' })
    expect(channels.webhook.sends({ external_id: 'just a name' })).toBe(false)
  })

  test('a secret without the prefix of the standard is used as plain text', async () => {
    const secret = 'plain secret, not base64!'
    const config = { external_id: 'x', credentials: { signing_secret: secret } }
    const request = receiver.fromWebhook(
      { sender_id: 'u', text: 'x' },
      { secret: `whsec_${Buffer.from(secret).toString('base64')}` },
    )
    expect((await receive('webhook', request, config)).messages).toHaveLength(1)
  })

  test('long texts are split between words and never within a character', () => {
    const text = `${'word '.repeat(30)}\n\n${'😀'.repeat(40)}`
    const parts = splitText(text, 50)
    expect(parts.every((part) => part.length <= 50 && part.isWellFormed())).toBe(true)
    expect(parts.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''))
    expect(storable('a\u0000b\ud800')).toBe('ab\ufffd')
  })
})
