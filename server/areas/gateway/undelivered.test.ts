import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import type { FakeVendor, Plan } from '#test/fakes/channels/server'
import * as whatsapp from '#test/fakes/channels/whatsapp'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// WhatsApp accepts a message, and may report later that it could not be delivered.

const REASON =
  'WhatsApp did not deliver the message (code 131047): More than 24 hours have passed since the customer last replied.'

let fake: FakeVendor
let service: Service
let world: World
beforeAll(async () => {
  fake = await whatsapp.startWhatsapp()
  service = await startService({ env: { WHATSAPP_API_BASE: fake.base } })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  await fake?.close()
})
beforeEach(() => {
  fake.sent.length = 0
})

async function makeChannel(person: TestPerson = world.member): Promise<string> {
  const { body: desk } = await person.call('POST', '/api/templates', { body: { name: 'Desk' } })
  const { status, body } = await person.call('POST', '/api/gateway/channels', {
    body: {
      channel: 'whatsapp',
      external_id: whatsapp.PHONE_ID,
      template_id: desk.template_id,
      credentials: {
        access_token: whatsapp.WHATSAPP_TOKEN,
        app_secret: whatsapp.WHATSAPP_SECRET,
        verify_token: whatsapp.WHATSAPP_VERIFY,
      },
    },
  })
  expect(status).toBeLessThan(300)
  return body.config_id
}
const post = (configId: string, body: unknown, secret?: string): Promise<Answer> =>
  service.call('POST', `/gateway/whatsapp/${configId}`, whatsapp.fromWhatsapp(body, secret))
const report = (configId: string, id: string, status = 'failed', secret?: string): Promise<Answer> =>
  post(configId, whatsapp.whatsappStatus(status, id), secret)

type Send = { send_id: string; state: string; problem: string | null; attempts: number; settled_at: Date | null }
const sendsOf = (configId: string): Promise<Send[]> =>
  service.sql<Send>(
    'select send_id, state, problem, attempts, settled_at from channel_sends where config_id = $1 order by send_id desc',
    [fromWire('chan', configId)],
  )
const sendOf = async (configId: string, sendId: string): Promise<Send | undefined> =>
  (await sendsOf(configId)).find(({ send_id }) => send_id === sendId)
const problemOf = async (configId: string, person: TestPerson = world.member): Promise<string | null> =>
  (await person.call('GET', `/api/gateway/channels/${configId}`)).body.problem

/** A person writes; returns the answer, which WhatsApp has accepted. */
async function answered(configId: string): Promise<Send> {
  const { length } = await sendsOf(configId)
  expect((await post(configId, whatsapp.whatsappMessage('hello'))).status).toBe(200)
  return until(async () => {
    const sends = await sendsOf(configId)
    return sends.length > length && sends.every(({ state }) => state !== 'waiting') && sends[0]
  }, 'the answer')
}

test('a message that WhatsApp reports as failed counts as refused, with the reason, until another one gets through', async () => {
  const configId = await makeChannel()
  const sent = await answered(configId)
  expect([sent.state, fake.sent.at(-1)!.key, await problemOf(configId)]).toEqual(['sent', sent.send_id, null])
  expect((await report(configId, sent.send_id)).status).toBe(200)
  const failed = await sendOf(configId, sent.send_id)
  expect(failed).toMatchObject({ state: 'parked', problem: REASON })
  expect(await problemOf(configId)).toBe(REASON)

  await answered(configId)
  expect(await problemOf(configId)).toBeNull()
  // The vendor repeats a report that it does not know to be received.
  expect((await report(configId, sent.send_id)).status).toBe(200)
  expect(await sendOf(configId, sent.send_id)).toEqual(failed)
  expect(await problemOf(configId)).toBeNull()
})

test('reports of success, of other messages and of strangers change nothing', async () => {
  const configId = await makeChannel()
  const theirs = await makeChannel(world.stranger)
  const sent = await answered(configId)
  const calls = [
    ...['sent', 'delivered', 'read'].map((status) => report(configId, sent.send_id, status)),
    report(configId, newId()),
    report(configId, 'order 7'),
    report(theirs, sent.send_id),
    post(configId, whatsapp.whatsappStatus('failed', sent.send_id, { phone: '999' })),
  ]
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200))
  expect((await report(configId, sent.send_id, 'failed', 'another')).body.code).toBe('bad_signature')
  expect(await sendOf(configId, sent.send_id)).toEqual(sent)
  expect([await problemOf(configId), await problemOf(theirs, world.stranger)]).toEqual([null, null])
})

test('a report that arrives before the message is recorded as sent stays', async () => {
  const configId = await makeChannel()
  let accept = (_plan: Plan): void => {}
  fake.next(new Promise((resolve) => (accept = resolve)))
  await post(configId, whatsapp.whatsappMessage('hello'))
  const { send_id } = await until(
    async () => (await sendsOf(configId)).find(({ state, attempts }) => state === 'waiting' && attempts > 0),
    'the request to WhatsApp',
  )
  await inOtherTransaction(service, async (other) => {
    await other.sql('select from channel_sends where send_id = $1 for update', [send_id])
    const reported = report(configId, send_id)
    await until(() => waitsForLock(service, '%update channel_sends%'), 'the report to wait')
    accept({ status: 200, body: { messages: [{ id: 'wamid.out' }] } })
    await until(() => waitsForLock(service, '%update channel_sends%', 2), 'the record to wait')
    await other.commit()
    expect((await reported).status).toBe(200)
  })
  // Both statements had asked for the row before this one.
  await inOtherTransaction(service, async (other) => {
    await other.sql('select from channel_sends where send_id = $1 for update', [send_id])
  })
  expect(await sendOf(configId, send_id)).toMatchObject({ state: 'parked', problem: REASON })
})

test('a report about several messages locks the channel after them, as the sending of a message does', async () => {
  const configId = await makeChannel()
  await answered(configId)
  const [last, first] = (await sendsOf(configId)).map(({ send_id }) => send_id)
  const [one, other] = [first!, last!].map((id) => whatsapp.whatsappStatus('failed', id))
  await inOtherTransaction(service, async (sending) => {
    await sending.sql('select from channel_sends where send_id = $1 for update', [last])
    const reported = post(configId, { ...one, entry: [...one!.entry, ...other!.entry] })
    await until(() => waitsForLock(service, '%update channel_sends%'), 'the report to wait')
    await sending.sql('select from gateway_channels where config_id = $1 for update nowait', [
      fromWire('chan', configId),
    ])
    await sending.commit()
    expect((await reported).status).toBe(200)
  })
  for (const id of [first!, last!]) expect((await sendOf(configId, id))?.state).toBe('parked')
  expect(await problemOf(configId)).toBe(REASON)
})
