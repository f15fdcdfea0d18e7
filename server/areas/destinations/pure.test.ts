import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { EventRefused, verifyEvent } from '#sdk/events'
import type { Loaded } from './deliveries-store.ts'
import { MAX_DATA_BYTES } from './deliveries-store.ts'
import { messageOf } from './message.ts'
import { blockAfter, GIVE_UP_AFTER_S, pauseAfter } from './pauses.ts'
import { newSigningSecret, signDelivery } from './sign.ts'

describe('a signature', () => {
  const body = '{"type":"execution.failed","data":{"name":"Ünïcode"}}'

  test('is the signature of the specification, computed by hand', () => {
    const secret = `whsec_${Buffer.from('a key of the test').toString('base64')}`
    const headers = signDelivery([secret], 'dlv_1', new Date(1_700_000_000_500), body)
    const expected = createHmac('sha256', 'a key of the test').update(`dlv_1.1700000000.${body}`).digest('base64')
    expect(headers).toEqual({
      'webhook-id': 'dlv_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${expected}`,
    })
  })

  test('with two secrets is accepted by a receiver that knows either of them, and by no other', () => {
    const [old, fresh] = [newSigningSecret(), newSigningSecret()]
    const headers = signDelivery([fresh, old], 'dlv_1', new Date(), body)
    for (const secret of [old, fresh]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
      expect(verifyEvent(secret, headers, body)).toEqual(JSON.parse(body))
      expect(verifyEvent(secret, new Headers(headers), Buffer.from(body))).toEqual(JSON.parse(body))
    }
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow(/signature/)
    expect(() => new Webhook(old).verify(`${body} `, headers)).toThrow(/signature/)
    expect(() => verifyEvent(newSigningSecret(), headers, body)).toThrow(EventRefused)
    expect(() => verifyEvent(old, headers, `${body} `)).toThrow(EventRefused)
    expect(() => verifyEvent(old, headers, body, Date.now() + 6 * 60_000)).toThrow(/time/)
    expect(() => verifyEvent(old, { ...headers, 'webhook-id': undefined }, body)).toThrow(/webhook-id/)
    expect(() => verifyEvent(old, { ...headers, 'webhook-signature': 'v1,' }, body)).toThrow(EventRefused)
  })
})

describe('pauses', () => {
  const still = () => 0

  test('grow, with jitter added, and respect Retry-After', () => {
    const pauses = Array.from({ length: 12 }, (_, at) => pauseAfter(at + 1, null, still))
    expect(pauses.slice(0, 3)).toEqual([5, 30, 120])
    expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses)
    expect(pauseAfter(1, null, () => 1)).toBe(6)
    expect(pauseAfter(1, 90, still)).toBe(90)
    expect(pauseAfter(9, 90, still)).toBe(8 * 3600)
  })

  test('allow at least a dozen attempts within the three days', () => {
    let spent = 0
    let attempts = 1
    for (; spent < GIVE_UP_AFTER_S; attempts += 1) spent += pauseAfter(attempts, null, () => 1)
    expect(attempts).toBeGreaterThanOrEqual(12)
  })

  test('of a whole destination start with the fifth failure in a row and end within ten minutes', () => {
    expect([1, 4, 5, 6, 7, 50].map((failures) => blockAfter(failures, still))).toEqual([0, 0, 5, 30, 120, 600])
  })
})

describe('a message', () => {
  const event = (data: Loaded['data']): Loaded =>
    ({
      workspace_id: '01980000-0000-7000-8000-000000000001',
      delivery_id: '01980000-0000-7000-8000-000000000002',
      execution_id: '01980000-0000-7000-8000-000000000003',
      type: 'execution.succeeded',
      event_at: new Date(0),
      seq: 7,
      workflow_id: null,
      version_id: null,
      trigger_kind: 'user',
      trigger_id: null,
      started_by: null,
      data,
    }) as unknown as Loaded

  test.each([
    ['small results are sent', { results: { a: 1 } }, { results: { a: 1 } }],
    ['large results are omitted', { results: 'x'.repeat(MAX_DATA_BYTES) }, { omitted: true }],
    ['results in the blob store are omitted', { blob: { key: 'k' } }, { omitted: true }],
    ['without the journal only the facts are sent', null, { omitted: true }],
  ])('is built correctly: %s', (_what, data, expected) => {
    const message = messageOf(event(data as Loaded['data']), 'https://heddle.example')
    expect(message.data).toMatchObject({ seq: 7, ...expected })
    expect(message.data).not.toHaveProperty('blob')
    if ('omitted' in expected) expect(message.data).not.toHaveProperty('results')
    expect(message.data.url).toMatch(/^https:\/\/heddle\.example\/api\/workflows\/executions\/exe_/)
    expect(message.timestamp).toBe('1970-01-01T00:00:00.000Z')
  })
})
