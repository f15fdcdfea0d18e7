import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as discord from '#test/fakes/channels/discord'
import * as receiver from '#test/fakes/channels/receiver'
import { type FakeVendor, keptFiles } from '#test/fakes/channels/server'
import * as slack from '#test/fakes/channels/slack'
import * as telegram from '#test/fakes/channels/telegram'
import * as whatsapp from '#test/fakes/channels/whatsapp'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeTemplate, makeWorkflow } from '#test/harness/widget'
import { makeWorld, type World } from '#test/harness/world'

let service: Service
let world: World
let template: string
let fakes: Record<'slack' | 'telegram' | 'whatsapp' | 'discord' | 'webhook', FakeVendor>

/** Sums a column of the file that it receives, and returns the rows as a file. */
const definition = {
  inputs: {
    type: 'object',
    properties: { orders: { type: 'object', title: 'the list of orders', required: ['$file'] } },
    required: ['orders'],
  },
  nodes: [
    { id: 'rows', type: 'file.convert', args: { file: { $ref: 'input.orders' }, from: 'csv', to: 'rows' } },
    {
      id: 'out',
      type: 'file.convert',
      args: { rows: { $ref: 'nodes.rows.output.rows' }, to: 'csv', name: 'counted.csv' },
    },
  ],
  edges: [{ from: { node: 'rows' }, to: 'out' }],
  output: {
    total: { $cel: "'total ' + string(nodes.rows.output.rows.map(row, int(row['count'])).sum())" },
    file: { $ref: 'nodes.out.output.file' },
  },
}

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
  template = await makeTemplate(world.owner, [await makeWorkflow(world.owner, 'Count orders', definition)])
})
afterAll(async () => {
  await service?.stop()
  await Promise.all(Object.values(fakes).map((fake) => fake.close()))
})

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
const externalId = (name: Name): string =>
  ({ whatsapp: whatsapp.PHONE_ID, email: `orders${++count}@acme.example`, webhook: `${fakes.webhook.base}/reply` })[
    name as 'email'
  ] ?? `account-${++count}`

async function makeChannel(name: Name, owner = world.owner, template_id = template): Promise<string> {
  const { body, text } = await owner.call('POST', '/api/gateway/channels', {
    body: { channel: name, external_id: externalId(name), template_id, credentials: credentials[name] },
  })
  expect(body?.config_id, text).toBeDefined()
  return body.config_id
}
type Sent = { raw: string | Buffer; headers: Record<string, string> }
const deliver = (name: Name, configId: string, { raw, headers }: Sent) =>
  service.call('POST', `/gateway/${name}/${configId}`, { raw, headers })

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const mime = (text: string, content: string, more = ''): Sent => ({
  raw: [
    'From: Ada <ada@example.org>',
    'Subject: Orders',
    `Message-ID: <${++count}@example.org>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    '--outer',
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '--inner--',
    '--outer',
    'Content-Type: image/png; name="logo.png"',
    'Content-Disposition: inline; filename="logo.png"',
    'Content-Transfer-Encoding: base64',
    '',
    base64('a logo'),
    `--outer`,
    'Content-Type: text/csv',
    `Content-Disposition: attachment; filename*=UTF-8''order%20l%C3%ADst.csv`,
    'Content-Transfer-Encoding: base64',
    '',
    content,
    `--outer--${more}`,
    '',
  ].join('\r\n'),
  headers: { 'content-type': 'message/rfc822', 'x-inbound-secret': 'inbound-secret-1' },
})

const withFile: Record<Name, () => Sent> = {
  telegram() {
    const { message, update_id } = telegram.telegramMessage('')
    const { text: _none, ...rest } = message
    const document = { file_id: 'orders', file_name: 'orders.csv', mime_type: 'text/csv' }
    return telegram.fromTelegram({ update_id, message: { ...rest, document } })
  },
  slack: () =>
    slack.fromSlack(
      slack.slackMessage('', {
        subtype: 'file_share',
        files: [
          {
            name: 'orders.csv',
            mimetype: 'text/csv',
            url_private_download: `${fakes.slack.base}/files-pri/orders.csv`,
          },
        ],
      }),
    ),
  whatsapp() {
    const sent = whatsapp.whatsappMessage('')
    const [message] = sent.entry[0]!.changes[0]!.value.messages as Record<string, unknown>[]
    Object.assign(message!, {
      type: 'document',
      document: { id: 'orders', mime_type: 'text/csv', filename: 'orders.csv' },
    })
    delete message!.text
    return whatsapp.fromWhatsapp(sent)
  },
  discord() {
    const sent = discord.discordCommand('') as unknown as { data: Record<string, unknown> }
    sent.data = {
      name: 'orders',
      options: [{ name: 'file', type: 11, value: '9' }],
      resolved: {
        attachments: { 9: { id: '9', filename: 'orders.csv', url: `${fakes.discord.base}/attachments/orders.csv` } },
      },
    }
    return discord.fromDiscord(sent)
  },
  email: () => mime('', base64(keptFiles.orders!)),
  webhook: () =>
    receiver.fromWebhook({
      sender_id: 'u1',
      text: '',
      files: [{ name: 'orders.csv', media_type: 'text/csv', content: base64(keptFiles.orders!) }],
    }),
}
const says: Record<Name, (text: string) => Sent> = {
  slack: (text) => slack.fromSlack(slack.slackMessage(text)),
  telegram: (text) => telegram.fromTelegram(telegram.telegramMessage(text)),
  whatsapp: (text) => whatsapp.fromWhatsapp(whatsapp.whatsappMessage(text)),
  discord: (text) => discord.fromDiscord(discord.discordCommand(text)),
  email: (text) => mime(text, ''),
  webhook: (text) => receiver.fromWebhook({ sender_id: 'u1', text }),
}

const textsOf = async (name: Name): Promise<string[]> =>
  name === 'email'
    ? (await service.sql<{ body_text: string }>(`select body_text from mail_outbox order by mail_id`)).map(
        ({ body_text }) => body_text,
      )
    : fakes[name].sent.map(({ text }) => text)
const heard = (name: Name, pattern: RegExp): Promise<string> =>
  until(async () => (await textsOf(name)).find((text) => pattern.test(text)), `${name} to say ${pattern}`)

describe.each(Object.keys(credentials) as Name[])('%s', (name) => {
  test('starts the workflow that accepts files with the file that was sent, and sends a file back', async () => {
    const configId = await makeChannel(name)
    const sent = withFile[name]()
    expect((await deliver(name, configId, sent)).status).toBe(200)
    await heard(name, /Shall I start "Count orders"/)
    // A repetition has no effect.
    expect((await deliver(name, configId, sent)).status).toBe(200)
    await deliver(name, configId, says[name]('yes'))
    const answer = await heard(name, /total 5/)
    const address = /https?:\/\/\S+\/files\/\S+/.exec(answer)?.[0]
    const got = await fetch(address!)
    expect([got.status, await got.text()]).toEqual([200, expect.stringMatching(/^sku,count\r?\nA,2\r?\nB,3\r?\n$/)])
    expect(got.headers.get('content-disposition')).toContain('counted.csv')
  })
})

describe('an inbound file', () => {
  test('is named to the sender if the vendor does not deliver it', async () => {
    const configId = await makeChannel('telegram')
    const { message, update_id } = telegram.telegramMessage('', 4711)
    const { text: _none, ...rest } = message
    const document = { file_id: 'huge', file_name: 'huge.iso' }
    await deliver('telegram', configId, telegram.fromTelegram({ update_id, message: { ...rest, document } }))
    await heard('telegram', /could not read huge\.iso/)
  })

  test('is not fetched from an address outside of the vendor', async () => {
    const configId = await makeChannel('slack')
    const elsewhere = `${fakes.webhook.base}/steal`
    const files = [{ name: 'a.csv', mimetype: 'text/csv', url_private_download: elsewhere }]
    await deliver('slack', configId, slack.fromSlack(slack.slackMessage('', { subtype: 'file_share', files })))
    await heard('slack', /could not read a\.csv/)
    expect(fakes.webhook.refused.filter((reason) => reason.includes('steal'))).toEqual([])
  })

  test('is refused unread in a mail that is too large or from an unknown sender', async () => {
    const configId = await makeChannel('email')
    const large = Buffer.alloc(26 << 20, 'x')
    const headers = { 'content-type': 'message/rfc822', 'x-inbound-secret': 'inbound-secret-1' }
    expect((await deliver('email', configId, { raw: large, headers })).status).toBe(413)
    const stranger = { ...headers, 'x-inbound-secret': 'wrong' }
    expect((await deliver('email', configId, { raw: large, headers: stranger })).status).toBe(401)
    const telegramId = await makeChannel('telegram')
    const two = telegram.fromTelegram({ pad: 'x'.repeat(2 << 20) })
    expect((await deliver('telegram', telegramId, two)).status).toBe(413)
  })

  test('is received from another workspace while mails of one workspace arrive slowly', async () => {
    const { owner } = await makeWorld(service)
    const others = await makeTemplate(owner, [await makeWorkflow(owner, 'Count orders', definition)])
    const [slow, quick] = [await makeChannel('email'), await makeChannel('email', owner, others)]
    const large = () => mime('count orders', base64('x'.repeat(2 << 20)))
    const { raw, headers } = large()
    const arriving = [0, 1].map(() => {
      const sending = request(`${service.base}/gateway/email/${slow}`, {
        method: 'POST',
        headers: { ...headers, 'content-length': raw.length },
      })
      sending.on('error', () => {})
      sending.write('From: Ada <ada@example.org>\r\n')
      return sending
    })
    try {
      await expect.poll(async () => (await deliver('email', slow, large())).body.code).toBe('overloaded')
      expect((await deliver('email', quick, large())).body).toEqual({ received: true })
    } finally {
      for (const sending of arriving) sending.destroy()
    }
  })

  test('of one conversation cannot be used in another', async () => {
    const rows = await service.sql<{ file_id: string; sender_id: string }>(
      'select file_id, sender_id from files where sender_id is not null limit 1',
    )
    expect(rows).toHaveLength(1)
    const other = await world.owner.call('POST', '/api/chat-thread', { body: { title: 'x', template_id: template } })
    const { toWire } = await import('#platform/ids')
    const said = await world.owner.call('POST', `/api/chat-thread/${other.body.thread_id}/messages`, {
      body: { text: 'count orders', files: [toWire('file', rows[0]!.file_id)] },
    })
    expect([said.status, said.body.errors?.[0].path]).toEqual([422, '/files/0'])
  })
})
