import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { fromWebhook, startReceiver, WEBHOOK_SECRET } from '#test/fakes/channels/receiver'
import type { FakeVendor, Plan } from '#test/fakes/channels/server'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type SharedService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// An acknowledged message is answered or reported as lost. Data that is no longer needed is deleted.

let receiver: FakeVendor
const shared = useSharedService()
let service: SharedService
let world: World
let template: string

beforeAll(async () => {
  receiver = await startReceiver()
  service = shared()
  service.allow(new URL(receiver.base).host)
  world = await makeWorld(service)
  template = (await world.member.call('POST', '/api/templates', { body: { name: 'Desk' } })).body.template_id
})
afterAll(async () => {
  await receiver?.close()
})
beforeEach(() => {
  receiver.sent.length = 0
})

let count = 0
const INBOUND = 'inbound-secret-1'

async function makeChannel(channel: 'webhook' | 'email', more: object = {}): Promise<string> {
  const own =
    channel === 'webhook'
      ? { external_id: `${receiver.base}/reply/${++count}`, credentials: { signing_secret: WEBHOOK_SECRET } }
      : { external_id: `desk${++count}@acme.example`, credentials: { inbound_secret: INBOUND } }
  const { body } = await world.member.call('POST', '/api/gateway/channels', {
    body: { channel, template_id: template, ...own, ...more },
  })
  return body.config_id
}
const patch = (configId: string, body: object) =>
  world.member.call('PATCH', `/api/gateway/channels/${configId}`, { body })
const write = (configId: string, body: object) =>
  service.call('POST', `/gateway/webhook/${configId}`, fromWebhook({ sender_id: 'u1', ...body }))
const statesOf = async (configId: string): Promise<string[]> =>
  (
    await service.sql<{ state: string }>('select state from channel_deliveries where config_id = $1', [
      fromWire('chan', configId),
    ])
  ).map(({ state }) => state)

describe('a channel message', () => {
  test('by mail without an id is never a duplicate: the same text twice counts as two messages', async () => {
    const configId = await makeChannel('email')
    const send = () =>
      service.call('POST', `/gateway/email/${configId}`, {
        raw: JSON.stringify({ from: 'Ada <ada@example.org>', subject: 'Tea', text: 'yes' }),
        headers: { 'content-type': 'application/json', 'x-inbound-secret': INBOUND },
      })
    expect([(await send()).status, (await send()).status]).toEqual([200, 200])
    await until(async () => (await statesOf(configId)).join() === 'taken,taken', 'both messages to be answered')
  })

  test('that is too long is answered with a note about its length', async () => {
    const configId = await makeChannel('webhook')
    expect((await write(configId, { text: `hello ${'x'.repeat(9000)}` })).status).toBe(200)
    await until(async () => receiver.sent.some(({ text }) => text.includes('first 8,000 characters')), 'the note')
    await write(configId, { text: 'hello' })
    await until(async () => (await statesOf(configId)).join() === 'taken,taken', 'the second message to be answered')
    expect(receiver.sent.filter(({ text }) => text.includes('8,000'))).toHaveLength(1)
  })

  test.each([
    ['conversation', { conversation_id: '\ud800' }],
    ['sender', { sender_id: 'a\0b' }],
  ])('with a %s that is not valid text is refused, and nothing is stored', async (_what, ids) => {
    const configId = await makeChannel('webhook')
    const refused = await write(configId, { text: 'hello', ...ids })
    expect([refused.status, refused.body.code]).toEqual([400, 'malformed'])
    expect(await statesOf(configId)).toEqual([])
  })

  test('that could not be answered is deleted after eight days, like the others', async () => {
    const configId = await makeChannel('webhook')
    await write(configId, { text: 'hello' })
    await until(async () => (await statesOf(configId)).join() === 'taken', 'the answer')
    const age = (state: string, days: number) =>
      service.sql(
        `update channel_deliveries set state = $2, received_at = now() - make_interval(days => $3) where config_id = $1`,
        [fromWire('chan', configId), state, days],
      )
    await age('parked', 7)
    await service.sql('select forget_channel_work()')
    expect(await statesOf(configId)).toEqual(['parked'])
    await age('parked', 9)
    await service.sql('select forget_channel_work()')
    expect(await statesOf(configId)).toEqual([])
  })

  /** Creates a disabled channel, with an answer to `sender` that waits until it is enabled. */
  async function switchedOff(sender: string): Promise<string> {
    // Otherwise an answer of an earlier test could receive the reply that is meant for this test.
    const waiting = () =>
      service.sql(`select from channel_sends where workspace_id = $1 and state = 'waiting'`, [world.workspace.uuid])
    const isQuiet = async () => (await waiting()).length === 0
    await until(isQuiet, 'earlier answers to be sent')
    const configId = await makeChannel('webhook')
    const reply = Promise.withResolvers<Plan>()
    receiver.next(reply.promise)
    await write(configId, { sender_id: sender, text: 'hello' })
    const sends = (where: string) =>
      service.sql(`select from channel_sends where config_id = $1 and ${where}`, [fromWire('chan', configId)])
    await until(async () => (await sends('attempts = 1')).length > 0, 'the first attempt')
    // The attempt fails after the channel was disabled.
    await patch(configId, { enabled: false })
    reply.resolve({ status: 503, body: {} })
    await until(
      async () => (await sends("problem is not null and not_before > now() + interval '5 minutes'")).length > 0,
      'the answer to be postponed',
    )
    return configId
  }
  const sentTo = (sender: string) => receiver.sent.filter(({ to }) => to === sender)

  test('is answered after its channel was disabled and enabled again', async () => {
    const configId = await switchedOff('patient')
    expect(sentTo('patient')).toEqual([])
    expect((await patch(configId, { enabled: true })).body.enabled).toBe(true)
    await until(async () => sentTo('patient').length > 0, 'the answer')
  })

  test('is answered even if another answer finds the channel disabled while it is being enabled', async () => {
    const id = fromWire('chan', await switchedOff('early'))
    const waiting = await service.sql(`select from channel_sends where config_id = $1 and state = 'waiting'`, [id])
    await inOtherTransaction(service, async (switching) => {
      await switching.sql('update gateway_channels set enabled = true where config_id = $1', [id])
      await switching.sql(`update channel_sends set not_before = now() where config_id = $1 and state = 'waiting'`, [
        id,
      ])
      await service.sql(
        `insert into channel_sends (workspace_id, send_id, config_id, lane, dedupe_key, address, text)
         select workspace_id, gen_random_uuid(), config_id, 'another', 'another', address, text from channel_sends where config_id = $1 limit 1`,
        [id],
      )
      await until(
        async () => (await waitsForLock(service, '%gateway_channels%')) || waitsForLock(service, '%channel_sends%'),
        'the other answer to be processed',
      )
      await switching.commit()
    })
    await until(async () => sentTo('early').length === waiting.length + 1, 'all answers')
  })
})

describe('a config', () => {
  test('is enabled as soon as it has all its credentials, unless the request says otherwise', async () => {
    const external_id = `a name of our own ${++count}`
    const bare = { credentials: undefined, external_id }
    const configId = await makeChannel('webhook', bare)
    const put = (more: object) =>
      world.member.call('POST', '/api/gateway/channels', {
        body: { channel: 'webhook', template_id: template, external_id, ...more },
      })
    const credentials = { signing_secret: WEBHOOK_SECRET }
    expect((await put({ credentials, enabled: false })).body).toMatchObject({ config_id: configId, enabled: false })
    expect((await put({ credentials })).body.enabled).toBe(false)
    await patch(configId, { credentials: { signing_secret: null } })
    expect((await put({ credentials })).body.enabled).toBe(true)
    await world.member.call('DELETE', `/api/gateway/channels/${configId}`)
  })

  test('whose template was deleted can be saved unchanged, and is enabled again with another template', async () => {
    const { body: own } = await world.member.call('POST', '/api/templates', { body: { name: 'Short-lived' } })
    const configId = await makeChannel('webhook', { template_id: own.template_id })
    await world.member.call('DELETE', `/api/templates/${own.template_id}`)
    const { enabled: _, ...fetched } = (await patch(configId, { name: 'Desk' })).body
    const back = await patch(configId, fetched)
    expect([back.status, back.body.template_id, back.body.enabled]).toEqual([200, null, false])
    expect((await patch(configId, { enabled: true })).body.errors[0].path).toBe('/template_id')
    expect((await patch(configId, { template_id: template })).body).toMatchObject({
      template_id: template,
      enabled: true,
    })
  })
})
