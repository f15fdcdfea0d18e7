import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId, toWire } from '#platform/ids'
import * as discord from '#test/fakes/channels/discord'
import * as receiver from '#test/fakes/channels/receiver'
import type { FakeVendor } from '#test/fakes/channels/server'
import * as slack from '#test/fakes/channels/slack'
import * as telegram from '#test/fakes/channels/telegram'
import * as whatsapp from '#test/fakes/channels/whatsapp'
import { makeTestDatabase } from '#test/harness/postgres'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

let service: Service
let world: World
let template: string
let workflow: string
let fakes: Record<'slack' | 'telegram' | 'whatsapp' | 'discord' | 'webhook', FakeVendor>

beforeAll(async () => {
  fakes = {
    slack: await slack.startSlack(),
    telegram: await telegram.startTelegram(),
    whatsapp: await whatsapp.startWhatsapp(),
    discord: await discord.startDiscord(),
    webhook: await receiver.startReceiver(),
  }
  service = await startService({
    env: {
      SLACK_API_BASE: fakes.slack.base,
      TELEGRAM_API_BASE: fakes.telegram.base,
      WHATSAPP_API_BASE: fakes.whatsapp.base,
      DISCORD_API_BASE: fakes.discord.base,
      HEDDLE_ALLOW_TARGETS: new URL(fakes.webhook.base).host,
    },
  })
  world = await makeWorld(service)
  const { body: ordering } = await world.member.call('POST', '/api/workflows', {
    body: { name: 'Order tea', definition },
  })
  const { body: made } = await world.member.call('POST', '/api/templates', {
    body: { name: 'Desk', workflow_ids: [ordering.workflow_id] },
  })
  template = made.template_id
  workflow = ordering.workflow_id
})
afterAll(async () => {
  await service?.stop()
  await Promise.all(Object.values(fakes).map((fake) => fake.close()))
})
beforeEach(() => {
  for (const fake of Object.values(fakes)) {
    fake.sent.length = 0
    fake.refused.length = 0
  }
})

// Waits until all work is done, so that one test does not send messages into the next.
afterEach(() =>
  until(async () => {
    const [row] = await service.sql<{ n: number }>(
      `select (select count(*) from channel_sends where state = 'waiting') + (select count(*) from channel_deliveries where state = 'waiting') as n`,
    )
    return Number(row!.n) === 0
  }, 'all messages to be sent'),
)

/** Asks the person a question before it ends, so its further messages come after the turn. */
const definition = {
  inputs: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
  nodes: [
    { id: 'ask', type: 'clarification', args: { question: 'With milk?', schema: { type: 'boolean' } } },
    {
      id: 'say',
      type: 'set',
      args: { values: { message: { $cel: '"Your " + input.kind + " tea, milk: " + string(nodes.ask.output)' } } },
    },
  ],
  edges: [{ from: { node: 'ask' }, to: 'say' }],
  output: { $ref: 'nodes.say.output' },
}

const credentials = {
  slack: { bot_token: slack.SLACK_TOKEN, signing_secret: slack.SLACK_SECRET },
  telegram: { bot_token: telegram.TELEGRAM_TOKEN, secret_token: telegram.TELEGRAM_SECRET },
  whatsapp: {
    access_token: whatsapp.WHATSAPP_TOKEN,
    app_secret: whatsapp.WHATSAPP_SECRET,
    verify_token: whatsapp.WHATSAPP_VERIFY,
  },
  discord: { bot_token: discord.DISCORD_TOKEN, public_key: discord.DISCORD_PUBLIC_KEY },
  email: { inbound_secret: 'inbound-secret-1' },
  webhook: { signing_secret: receiver.WEBHOOK_SECRET },
} as const
type Name = keyof typeof credentials

let count = 0
const externalId = (name: Name): string => {
  if (name === 'whatsapp') return whatsapp.PHONE_ID
  if (name === 'email') return `help${++count}@acme.example`
  if (name === 'webhook') return `${fakes.webhook.base}/reply/${++count}`
  return `account-${++count}`
}

const put = (name: Name, more: Record<string, unknown> = {}, by = world.member): Promise<Answer> =>
  by.call('POST', '/api/gateway/channels', {
    body: {
      channel: name,
      external_id: externalId(name),
      template_id: template,
      credentials: credentials[name],
      ...more,
    },
  })
async function makeChannel(name: Name, more: Record<string, unknown> = {}): Promise<string> {
  // There is only one WhatsApp number, so each test starts with a new config.
  if (name === 'whatsapp') await service.sql(`delete from gateway_channels where channel = 'whatsapp'`)
  const { status, body, text } = await put(name, more)
  expect([status < 300, text]).toEqual([true, text])
  return body.config_id
}

type Request = { raw: string | Buffer; headers: Record<string, string> }
const deliver = (name: Name, configId: string, { raw, headers }: Request): Promise<Answer> =>
  service.call('POST', `/gateway/${name}/${configId}`, { raw, headers })

const mail = (text: string, secret = 'inbound-secret-1'): Request => ({
  raw: JSON.stringify({ from: 'Ada <ada@example.org>', subject: 'Tea', text, message_id: `<${++count}@example.org>` }),
  headers: { 'content-type': 'application/json', 'x-inbound-secret': secret },
})
const says: Record<Name, (text: string, forged?: boolean) => Request> = {
  slack: (text, forged) => slack.fromSlack(slack.slackMessage(text), forged ? { secret: 'x' } : {}),
  telegram: (text, forged) => telegram.fromTelegram(telegram.telegramMessage(text), forged ? 'x' : undefined),
  whatsapp: (text, forged) => whatsapp.fromWhatsapp(whatsapp.whatsappMessage(text), forged ? 'x' : undefined),
  discord: (text, forged) => discord.fromDiscord(discord.discordCommand(text), forged ? { forged } : {}),
  email: (text, forged) => mail(text, forged ? 'x' : undefined),
  webhook: (text, forged) =>
    receiver.fromWebhook({ sender_id: 'u1', sender_name: 'Ada', text }, forged ? { secret: 'whsec_eHh4' } : {}),
}
const names = Object.keys(credentials) as Name[]

const textsOf = async (name: Name): Promise<string[]> =>
  name === 'email'
    ? (
        await service.sql<{ body_text: string }>(
          `select body_text from mail_outbox where recipient @> array['ada@example.org'] order by mail_id`,
        )
      ).map(({ body_text }) => body_text)
    : fakes[name].sent.map(({ text }) => text)
const heard = (name: Name, pattern: RegExp): Promise<string> =>
  until(async () => (await textsOf(name)).find((text) => pattern.test(text)), `${name} to say ${pattern}`)

const rowsOf = async (configId: string): Promise<{ deliveries: number; threads: number; sends: number }> => {
  const [row] = await service.sql<{ deliveries: number; threads: number; sends: number }>(
    `select (select count(*)::int from channel_deliveries where config_id = $1) as deliveries,
       (select count(*)::int from threads where config_id = $1) as threads,
       (select count(*)::int from channel_sends where config_id = $1) as sends`,
    [fromWire('chan', configId)],
  )
  return row!
}
const nothing = { deliveries: 0, threads: 0, sends: 0 }
const statesOf = async (configId: string, of: 'channel_deliveries' | 'channel_sends' = 'channel_deliveries') =>
  (
    await service.sql<{ state: string }>(`select state from ${of} where config_id = $1`, [fromWire('chan', configId)])
  ).map(({ state }) => state)

describe('a conversation that a colleague takes over', () => {
  test('continues through the vendor, and the assistant is silent until it is handed back', async () => {
    const configId = await makeChannel('telegram')
    await deliver('telegram', configId, says.telegram('hello'))
    await heard('telegram', /Order tea/)
    const { items } = (await world.member.call('GET', '/api/chat-thread?with=outside&limit=200')).body
    const [thread] = await service.sql<{ thread_id: string }>('select thread_id from threads where config_id = $1', [
      fromWire('chan', configId),
    ])
    const thread_id = thread!.thread_id
    const path = `/api/chat-thread/${toWire('thr', thread_id)}`
    expect(items[0]).toMatchObject({ thread_id: toWire('thr', thread_id), channel: 'telegram', role: 'member' })
    expect((await world.member.call('POST', `${path}/messages`, { body: { text: 'Tea is out' } })).status).toBe(201)
    await heard('telegram', /^Tea is out$/)
    const before = fakes.telegram.sent.length
    await deliver('telegram', configId, says.telegram('Order tea'))
    await until(async () => (await statesOf(configId)).join() === 'taken,taken', 'the message to be accepted')
    await world.member.call('PATCH', `/api/templates/${template}`, { body: { features: { names: true } } })
    await world.member.call('POST', `${path}/messages`, { body: { text: 'Tomorrow again' } })
    await heard('telegram', /^.+: Tomorrow again$/)
    await world.member.call('PATCH', `/api/templates/${template}`, { body: { features: { names: false } } })
    expect(fakes.telegram.sent).toHaveLength(before + 1)
    await world.member.call('POST', `${path}/hand-back`)
    await heard('telegram', /The assistant answers again/)
    await deliver('telegram', configId, says.telegram('Order tea'))
    await heard('telegram', /I need/)
  })
})

describe('a config', () => {
  test('is created once per account and changed by sending it again, and never shows its credentials', async () => {
    const external_id = 'T0HOME'
    const made = await put('slack', { external_id, name: 'Support' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      channel: 'slack',
      external_id,
      template_id: template,
      name: 'Support',
      enabled: true,
      credentials_set: ['bot_token', 'signing_secret'],
      inbound_url: `${service.base}/gateway/slack/${made.body.config_id}`,
    })
    const again = await put('slack', { external_id, name: 'Help', credentials: undefined })
    expect([again.status, again.body.config_id, again.body.name]).toEqual([200, made.body.config_id, 'Help'])
    const list = await world.viewer.call('GET', '/api/gateway/channels')
    const used = await world.viewer.call('GET', `/api/gateway/channels/by-template/${template}`)
    expect(used.body.items[0]).toMatchObject({ config_id: made.body.config_id })
    for (const { text } of [made, again, list, used])
      for (const secret of Object.values(credentials.slack)) expect(text).not.toContain(secret)
    const [row] = await service.sql<{ dump: string }>(
      'select string_agg(g::text, chr(10)) as dump from gateway_channels g',
    )
    const [log] = await service.sql<{ dump: string }>('select string_agg(a::text, chr(10)) as dump from audit_log a')
    for (const secret of Object.values(credentials.slack)) {
      expect(row!.dump).not.toContain(secret)
      expect(row!.dump).not.toContain(Buffer.from(secret).toString('hex'))
      expect(log!.dump).not.toContain(secret)
    }
  })

  test('is created once by twenty simultaneous requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => put('discord', { external_id: 'the-same-app' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.config_id)).size).toBe(1)
  })

  test('cannot be enabled without all its secrets, or lose one while it is enabled', async () => {
    const refused = await put('telegram', { enabled: true, credentials: { bot_token: 'x' } })
    expect(refused.body).toMatchObject({ code: 'invalid', errors: [{ path: '/credentials/secret_token' }] })
    const made = await put('telegram', { credentials: undefined })
    expect(made.body).toMatchObject({ enabled: false, credentials_set: [] })
    const path = `/api/gateway/channels/${made.body.config_id}`
    expect((await world.member.call('PATCH', path, { body: { enabled: true } })).status).toBe(422)
    const armed = await world.member.call('PATCH', path, { body: { enabled: true, credentials: credentials.telegram } })
    expect(armed.body).toMatchObject({ enabled: true, credentials_set: ['bot_token', 'secret_token'] })
    const erase = { credentials: { secret_token: null } }
    expect((await world.member.call('PATCH', path, { body: erase })).status).toBe(422)
    const off = await world.member.call('PATCH', path, { body: { ...erase, enabled: false } })
    expect(off.body).toMatchObject({ enabled: false, credentials_set: ['bot_token'] })
    const back = await world.member.call('PATCH', path, { body: off.body })
    expect(back.status).toBe(200)
  })

  test.each([
    ['a credential of another vendor', { credentials: { access_token: 'x' } }, '/credentials/access_token'],
    ['an empty credential', { credentials: { bot_token: ' ' } }, '/credentials/bot_token'],
    ['no account', { external_id: ' ' }, '/external_id'],
    ['an unknown vendor', { channel: 'pigeon' }, '/channel'],
    ['an unknown field', { base_url: 'https://evil.example' }, '/base_url'],
  ])('with %s is refused', async (_what, more, path) => {
    const refused = await put('slack', more)
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].path).toBe(path)
  })

  test('names a template of the workspace, and loses it when the template is deleted', async () => {
    const { body: theirs } = await world.stranger.call('POST', '/api/templates', { body: { name: 'Theirs' } })
    expect((await put('slack', { template_id: theirs.template_id })).body.code).toBe('unknown_reference')
    const { body: own } = await world.member.call('POST', '/api/templates', { body: { name: 'Short-lived' } })
    const configId = await makeChannel('slack', { template_id: own.template_id })
    expect((await world.member.call('DELETE', `/api/templates/${own.template_id}`)).status).toBe(204)
    const { body } = await world.member.call('GET', '/api/gateway/channels?limit=200')
    const config = body.items.find(({ config_id }: { config_id: string }) => config_id === configId)
    expect(config).toMatchObject({ template_id: null, enabled: false })
    expect((await deliver('slack', configId, says.slack('hello'))).body.code).toBe('channel_disabled')
    expect(await rowsOf(configId)).toEqual(nothing)
  })

  test('is visible to viewers, can be changed by members, and is not found from another workspace', async () => {
    const configId = await makeChannel('slack')
    const path = `/api/gateway/channels/${configId}`
    expect((await put('slack', {}, world.viewer)).status).toBe(403)
    expect((await world.viewer.call('PATCH', path, { body: { name: 'x' } })).status).toBe(403)
    expect((await world.viewer.call('DELETE', path)).status).toBe(403)
    expect((await world.stranger.call('PATCH', path, { body: { name: 'x' } })).status).toBe(404)
    expect((await world.owner.call('PATCH', path, { body: { channel: 'discord' } })).body.code).toBe('read_only')
    expect((await world.owner.call('DELETE', path)).status).toBe(204)
    expect((await deliver('slack', configId, says.slack('hello'))).status).toBe(404)
  })
})

describe.each(names)('a person who writes through %s', (name) => {
  test('is answered there, receives the question of the execution, answers it and gets the result', async () => {
    const configId = await makeChannel(name)
    const first = await deliver(name, configId, says[name]('order tea'))
    expect(first.status).toBe(200)
    await heard(name, /kind/)
    await deliver(name, configId, says[name]('green'))
    await heard(name, /With milk\?/)
    await deliver(name, configId, says[name]('yes'))
    await heard(name, /Your green tea, milk: true/)
    if (name !== 'email') expect(fakes[name].refused).toEqual([])
    expect((await rowsOf(configId)).threads).toBe(1)
    const all = await textsOf(name)
    expect(new Set(all).size).toBe(all.length)
    const [run] = await service.sql<{ kind: string; id: string }>(
      `select trigger_kind as kind, trigger_id as id from executions order by created_at desc limit 1`,
    )
    expect(run).toEqual({ kind: 'channel', id: configId })
  })

  test('is refused without the right signature, and nothing is started', async () => {
    const configId = await makeChannel(name)
    const right = says[name]('order tea')
    const bare = { raw: right.raw, headers: { 'content-type': right.headers['content-type']! } }
    for (const request of [says[name]('order tea', true), bare]) {
      const refused = await deliver(name, configId, request)
      expect([refused.status, refused.body.code]).toEqual([401, 'bad_signature'])
    }
    const off = {
      enabled: false,
      credentials: Object.fromEntries(Object.keys(credentials[name]).map((key) => [key, null])),
    }
    expect((await world.member.call('PATCH', `/api/gateway/channels/${configId}`, { body: off })).status).toBe(200)
    expect((await deliver(name, configId, right)).body.code).toBe('bad_signature')
    expect(await rowsOf(configId)).toEqual(nothing)
  })

  test('is answered once, even if the vendor repeats the message', async () => {
    const configId = await makeChannel(name)
    const request = says[name]('hello')
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(name, configId, request)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await until(
      async () =>
        (
          await service.sql(`select from channel_sends where config_id = $1 and state = 'sent'`, [
            fromWire('chan', configId),
          ])
        ).length > 0,
      'an answer',
    )
    expect((await rowsOf(configId)).deliveries).toBe(1)
    const messages = await service.sql(
      `select from messages m join threads t using (thread_id) where t.config_id = $1 and m.role = 'visitor'`,
      [fromWire('chan', configId)],
    )
    expect(messages).toHaveLength(1)
  })
})

describe('signatures', () => {
  test.each(['slack', 'discord', 'webhook'] as const)('of %s older than 300 s are refused', async (name) => {
    const configId = await makeChannel(name)
    const at = Math.floor(Date.now() / 1000) - 301
    const old = {
      slack: () => slack.fromSlack(slack.slackMessage('x'), { at }),
      discord: () => discord.fromDiscord(discord.discordCommand('x'), { at }),
      webhook: () => receiver.fromWebhook({ sender_id: 'u', text: 'x' }, { at: new Date(at * 1000) }),
    }[name]()
    expect((await deliver(name, configId, old)).body.code).toBe('bad_signature')
    expect(await rowsOf(configId)).toEqual(nothing)
  })

  test('of one config are refused by another, in this or another workspace', async () => {
    const { body: theirs } = await world.stranger.call('POST', '/api/templates', { body: { name: 'Theirs' } })
    const foreign = await world.stranger.call('POST', '/api/gateway/channels', {
      body: {
        channel: 'telegram',
        external_id: 'theirs',
        template_id: theirs.template_id,
        credentials: { bot_token: 'b', secret_token: 'their own secret' },
      },
    })
    expect((await deliver('telegram', foreign.body.config_id, says.telegram('x'))).status).toBe(401)
    const configId = await makeChannel('telegram')
    expect((await deliver('slack', configId, says.slack('x'))).status).toBe(404)
    expect((await deliver('telegram', 'chan_nonsense', says.telegram('x'))).status).toBe(404)
  })

  test('of a Slack challenge and a Discord ping are accepted before the channel is enabled', async () => {
    const slackId = await makeChannel('slack', { enabled: false })
    const challenge = await deliver('slack', slackId, slack.fromSlack({ type: 'url_verification', challenge: '3eZb' }))
    expect([challenge.status, challenge.text]).toEqual([200, '3eZb'])
    const discordId = await makeChannel('discord', { enabled: false })
    const pong = await deliver('discord', discordId, discord.fromDiscord({ id: '1', type: 1 }))
    expect(pong.body).toEqual({ type: 1 })
    expect((await deliver('slack', slackId, says.slack('hello'))).body.code).toBe('channel_disabled')
  })

  test('of WhatsApp start with a handshake that requires the right token', async () => {
    const configId = await makeChannel('whatsapp')
    const shake = (token: string, id = configId) =>
      service.call(
        'GET',
        `/gateway/whatsapp/${id}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`,
      )
    const right = await shake(whatsapp.WHATSAPP_VERIFY)
    expect([right.status, right.text]).toEqual([200, '1158201444'])
    expect(right.headers.get('content-type')).toMatch(/^text\/plain/)
    for (const token of ['', 'wrong']) expect((await shake(token)).body.code).toBe('bad_signature')
    expect((await service.call('GET', `/gateway/slack/${await makeChannel('slack')}`)).body.code).toBe('bad_signature')
  })

  test('that are valid do not make an invalid body acceptable', async () => {
    const configId = await makeChannel('webhook')
    expect((await deliver('webhook', configId, receiver.fromWebhook({ text: 'x' }))).body.code).toBe('malformed')
    const slackId = await makeChannel('slack')
    for (const body of [{}, { type: 'event_callback' }, { type: 'event_callback', event: { type: 5 } }, []])
      expect((await deliver('slack', slackId, slack.fromSlack(body))).status).toBe(200)
    expect(await rowsOf(slackId)).toEqual(nothing)
  })
})

describe('conversations', () => {
  test('of two people are separate', async () => {
    const configId = await makeChannel('telegram')
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('order tea', 1)))
    await until(async () => fakes.telegram.sent.some(({ to }) => to === '1'), 'an answer to the first')
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('green', 2)))
    await until(async () => fakes.telegram.sent.some(({ to }) => to === '2'), 'an answer to the second')
    expect(fakes.telegram.sent.filter(({ to, text }) => to === '2' && /milk/.test(text))).toEqual([])
    expect((await rowsOf(configId)).threads).toBe(2)
  })

  test('are visible to the owners of the workspace and the creator of the channel only', async () => {
    const configId = await makeChannel('telegram')
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('hello', 5)))
    const [row] = await until(async () => {
      const rows = await service.sql<{ id: string }>(
        `select typeid('thr', thread_id) as id from threads where config_id = $1`,
        [fromWire('chan', configId)],
      )
      return rows.length > 0 && rows
    }, 'the thread')
    const address = `/api/chat-thread/${row!.id}`
    expect((await world.owner.call('GET', address)).body).toMatchObject({
      kind: 'channel',
      channel: 'telegram',
      role: 'member',
    })
    const listed = await world.owner.call('GET', '/api/chat-thread?with=outside&limit=200')
    expect(listed.body.items.map(({ thread_id }: { thread_id: string }) => thread_id)).toContain(row!.id)
    const texts = await until(async () => {
      const { items } = (await world.owner.call('GET', `${address}/messages`)).body
      return items.length > 1 && items.map(({ text }: { text: string }) => text)
    }, 'the answer')
    expect(texts[0]).toBe('hello')
    const body = { email: world.member.email }
    expect((await world.owner.call('POST', `${address}/invite`, { body })).status).toBe(403)
    for (const person of [world.viewer, world.guest, world.stranger])
      for (const path of ['', '/messages', '/members'])
        expect((await person.call('GET', address + path)).status).toBe(404)
  })

  test('keep the order of rapid messages', async () => {
    const configId = await makeChannel('webhook')
    const burst = Array.from({ length: 30 }, (_, n) =>
      receiver.fromWebhook({ sender_id: 'burst', text: `say ${n} 🦜 ‮` }),
    )
    for (const request of burst) await deliver('webhook', configId, request)
    const said = await until(async () => {
      const rows = await service.sql<{ text: string }>(
        `select m.text from messages m join threads t using (thread_id) where t.config_id = $1 and m.role = 'visitor' order by seq`,
        [fromWire('chan', configId)],
      )
      return rows.length === 30 && rows.map(({ text }) => text)
    }, 'thirty messages')
    expect(said).toEqual(Array.from({ length: 30 }, (_, n) => `say ${n} 🦜 ‮`))
  })

  test('contain each message once, even if the server crashed before it recorded the answer', async () => {
    const configId = await makeChannel('telegram')
    const uuid = fromWire('chan', configId)
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('order tea', 21)))
    const taken = () =>
      until(
        async () =>
          (await service.sql(`select from channel_deliveries where config_id = $1 and state = 'taken'`, [uuid]))
            .length > 0,
        'the message to be accepted',
      )
    const standing = () =>
      service.sql(
        `select (select count(*) from messages m join threads t using (thread_id) where t.config_id = $1) as messages,
           (select count(*) from channel_sends where config_id = $1) as sends`,
        [uuid],
      )
    await taken()
    const before = await standing()
    // The state after a crash, once the lease has expired.
    await service.sql(
      `update channel_deliveries set state = 'waiting', text = 'order tea', not_before = now() where config_id = $1`,
      [uuid],
    )
    await taken()
    expect(await standing()).toEqual(before)
  })

  test('explain politely that pictures cannot be read', async () => {
    const configId = await makeChannel('telegram')
    const { message, update_id } = telegram.telegramMessage('')
    const { text: _none, ...rest } = message
    await deliver('telegram', configId, telegram.fromTelegram({ update_id, message: { ...rest, photo: [{}] } }))
    await heard('telegram', /only read text/)
  })

  test.each([
    ['telegram', 'de', 'Hallo', /Dabei kann ich helfen/],
    ['discord', 'es-ES', 'Hola', /Puedo ayudarle con/],
    ['webhook', 'nb', 'Hei', /Jeg kan hjelpe med/],
    ['webhook', 'not a tag', 'Hello', /I can help with/],
  ] as const)('use the language that %s provides: %s', async (name, locale, text, pattern) => {
    const configId = await makeChannel(name)
    const { message, update_id } = telegram.telegramMessage(text, 4711)
    const request = {
      telegram: () =>
        telegram.fromTelegram({
          update_id,
          message: { ...message, from: { ...message.from, language_code: locale } },
        }),
      discord: () => discord.fromDiscord({ ...discord.discordCommand(text), locale }),
      webhook: () => receiver.fromWebhook({ sender_id: `speaks ${locale}`, locale, text }),
    }[name]()
    expect((await deliver(name, configId, request)).status).toBe(200)
    await heard(name, pattern)
  })

  test.each(['slack', 'whatsapp', 'email', 'telegram'] as const)(
    'use the language of the template if %s provides none',
    async (name) => {
      const { body: german } = await world.member.call('POST', '/api/templates', {
        body: { name: 'Theke', locale: 'de-CH', workflow_ids: [workflow] },
      })
      expect(german.locale).toBe('de-CH')
      const configId = await makeChannel(name, { template_id: german.template_id })
      expect((await deliver(name, configId, says[name]('Hallo'))).status).toBe(200)
      await heard(name, /Dabei kann ich helfen/)
    },
  )

  test('prefer the language that a mail declares to the language of the template', async () => {
    const { body: german } = await world.member.call('POST', '/api/templates', {
      body: { name: 'Theke', locale: 'de', workflow_ids: [workflow] },
    })
    const configId = await makeChannel('email', { template_id: german.template_id })
    const { raw, headers } = mail('Bonjour')
    const written = { ...JSON.parse(String(raw)), headers: { 'Content-Language': 'fr-FR, en' } }
    await deliver('email', configId, { raw: JSON.stringify(written), headers })
    await heard('email', /Je peux vous aider/)
  })

  test('wait while a quota for mails is used up, and the channel shows the reason', async () => {
    const quota = 'outside_recipients_per_day'
    await service.sql(
      `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas)
       select $1, org_id, 'Free', 0, 'eur', 'month', $2 from orgs limit 1`,
      [newId(), { [quota]: 0 }],
    )
    const home = await makeWorld(service)
    const { body: desk } = await home.owner.call('POST', '/api/templates', {
      body: { name: 'Desk', greeting: 'Quota!' },
    })
    const { body: channel } = await put('email', { template_id: desk.template_id }, home.owner)
    await deliver('email', channel.config_id, mail('hello'))
    const problemOf = async (): Promise<string | null> =>
      (await home.owner.call('GET', `/api/gateway/channels/${channel.config_id}`)).body.problem
    await until(async () => (await problemOf())?.includes(quota), 'the reason')
    expect(await statesOf(channel.config_id, 'channel_sends')).toEqual(['waiting', 'waiting'])
    await service.sql('delete from plans')
    await until(async () => {
      await service.sql(`update channel_sends set not_before = now() where config_id = $1 and state = 'waiting'`, [
        fromWire('chan', channel.config_id),
      ])
      return (await textsOf('email')).includes('Quota!')
    }, 'the answer')
    await until(async () => (await problemOf()) === null, 'the reason to be gone')
  })

  test('continue with another template when the config is changed', async () => {
    const configId = await makeChannel('telegram')
    const { body: other } = await world.member.call('POST', '/api/templates', {
      body: { name: 'Other', greeting: 'This is the other desk.' },
    })
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('hello', 9)))
    await until(async () => fakes.telegram.sent.length > 0, 'an answer')
    await world.member.call('PATCH', `/api/gateway/channels/${configId}`, { body: { template_id: other.template_id } })
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('hello', 9)))
    await heard('telegram', /the other desk/)
  })
})

describe('answers', () => {
  test('wait as long as the vendor requests, and are then sent', async () => {
    const configId = await makeChannel('telegram')
    fakes.telegram.next(telegram.telegramBusy(1), telegram.telegramBusy(1))
    await deliver('telegram', configId, says.telegram('hello'))
    const row = await until(
      async () =>
        (
          await service.sql<{ attempts: number; text: string }>(
            `select attempts, text from channel_sends where config_id = $1 and state = 'sent' order by send_id limit 1`,
            [fromWire('chan', configId)],
          )
        )[0],
      'an answer',
    )
    expect(row).toEqual({ attempts: 1, text: '' })
    expect(fakes.telegram.sent).not.toEqual([])
  })

  test('are retried if the vendor fails, and given up if it refuses', async () => {
    const configId = await makeChannel('telegram')
    fakes.telegram.next({ status: 502, body: 'bad gateway' }, 'hang up')
    await deliver('telegram', configId, says.telegram('hello'))
    // Shortens the pauses after the two failures, and waits until everything is recorded as sent.
    await until(async () => {
      await service.sql(
        `update channel_sends set not_before = now() where config_id = $1 and problem is not null and state = 'waiting'
           and not_before between now() and now() + interval '5 seconds'`,
        [fromWire('chan', configId)],
      )
      const states = await statesOf(configId, 'channel_sends')
      return states.length > 0 && states.every((state) => state === 'sent')
    }, 'the answer to be sent')
    expect(fakes.telegram.sent).not.toEqual([])
    await deliver('telegram', configId, telegram.fromTelegram(telegram.telegramMessage('hello', 403)))
    const parked = await until(
      async () =>
        (
          await service.sql<{ problem: string }>(
            `select problem from channel_sends where config_id = $1 and state = 'parked'`,
            [fromWire('chan', configId)],
          )
        )[0],
      'a message that was given up',
    )
    expect(parked.problem).toMatch(/refused/)
    expect(parked.problem).not.toContain(telegram.TELEGRAM_TOKEN)
    const problemOf = async (): Promise<string | null> =>
      (await world.viewer.call('GET', '/api/gateway/channels?limit=200')).body.items.find(
        ({ config_id }: { config_id: string }) => config_id === configId,
      ).problem
    expect(await problemOf()).toBe(parked.problem)
    await deliver('telegram', configId, says.telegram('hello'))
    await until(async () => (await problemOf()) === null, 'a message that got through')
  })

  test('that were not sent when the server stopped are sent after it starts again', async () => {
    const database = await makeTestDatabase()
    const [down, up] = [await whatsapp.startWhatsapp(), await whatsapp.startWhatsapp()]
    down.next(...Array.from({ length: 50 }, () => ({ status: 503, body: {} })))
    const before = await startService({ database, env: { WHATSAPP_API_BASE: down.base } })
    const { member } = await makeWorld(before)
    const { body: desk } = await member.call('POST', '/api/templates', { body: { name: 'Desk' } })
    const { body: config } = await member.call('POST', '/api/gateway/channels', {
      body: {
        channel: 'whatsapp',
        external_id: whatsapp.PHONE_ID,
        template_id: desk.template_id,
        credentials: credentials.whatsapp,
      },
    })
    await before.call('POST', `/gateway/whatsapp/${config.config_id}`, says.whatsapp('hello'))
    await until(async () => (await before.sql('select from channel_sends where attempts > 0')).length > 0, 'an attempt')
    await before.stop()
    expect(down.sent).toEqual([])
    const after = await startService({ database, env: { WHATSAPP_API_BASE: up.base } })
    await until(async () => up.sent.length > 0, 'the answer')
    await after.stop()
    await Promise.all([down.close(), up.close(), database.drop()])
  })
})

describe('channel.send', () => {
  const run = async (args: unknown): Promise<Answer> => {
    const { body, text } = await world.member.call('POST', '/api/workflows', {
      body: {
        name: 'Tell',
        definition: {
          nodes: [{ id: 'tell', type: 'channel.send', args }],
          edges: [],
          output: { $ref: 'nodes.tell.output' },
        },
      },
    })
    if (!body.workflow_id) throw new Error(text)
    return world.member.call('POST', `/api/workflows/${body.workflow_id}/run?wait_s=60`, { body: {} })
  }

  test('sends to the recipient that the workflow names', async () => {
    const configId = await makeChannel('slack')
    const ended = await run({ config_id: configId, to: 'C0TEAM', text: 'Deploy <done> & dusted' })
    expect(ended.body).toMatchObject({ status: 'succeeded', results: { channel: 'slack', state: 'queued' } })
    await until(async () => fakes.slack.sent.some(({ to }) => to === 'C0TEAM'), 'the message')
    expect(fakes.slack.sent).toMatchObject([{ text: 'Deploy &lt;done&gt; &amp; dusted' }])
  })

  test('fails clearly for an invalid recipient and for a disabled channel', async () => {
    const configId = await makeChannel('telegram')
    expect((await run({ config_id: configId, to: 'not a chat', text: 'x' })).body.error.code).toBe('args_invalid')
    await world.member.call('PATCH', `/api/gateway/channels/${configId}`, { body: { enabled: false } })
    expect((await run({ config_id: configId, to: '77', text: 'x' })).body.error.code).toBe('channel_disabled')
  })

  test('cannot use a channel of another workspace, neither when saved nor when run', async () => {
    const { body: theirs } = await world.stranger.call('POST', '/api/templates', { body: { name: 'Theirs' } })
    const { body: foreign } = await world.stranger.call('POST', '/api/gateway/channels', {
      body: { channel: 'slack', external_id: 'x', template_id: theirs.template_id, credentials: credentials.slack },
    })
    await expect(run({ config_id: foreign.config_id, to: 'C0X', text: 'x' })).rejects.toThrow('unknown_reference')
    const hidden = { $cel: `"${foreign.config_id}"` }
    expect((await run({ config_id: hidden, to: 'C0X', text: 'x' })).body.error.code).toBe('unknown_reference')
    expect(fakes.slack.sent).toEqual([])
  })
})
