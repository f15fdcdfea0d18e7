import { createHmac, timingSafeEqual } from 'node:crypto'

// For receivers of events: verifies that a delivery comes from Heddle. Requires only Node.js.

export type HeddleEvent = { type: string; timestamp: string; data: Record<string, unknown> }

export class EventRefused extends Error {}

const TOLERANCE_S = 5 * 60
const PREFIX = 'whsec_'

type Headers = Record<string, string | string[] | undefined> | { get(name: string): string | null }

function headerOf(headers: Headers, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, string>)[name]
  if (typeof value !== 'string' || value === '') throw new EventRefused(`the header ${name} is missing`)
  return value
}

const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

/**
 * Returns the event if its signature is valid and its time is within five minutes of the local time. Otherwise throws
 * EventRefused. `body` must be the received body, byte for byte: after parsing and serializing it would no longer
 * match.
 */
export function verifyEvent(secret: string, headers: Headers, body: string | Buffer, now = Date.now()): HeddleEvent {
  const id = headerOf(headers, 'webhook-id')
  const seconds = headerOf(headers, 'webhook-timestamp')
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(now / 1000 - Number(seconds)) > TOLERANCE_S)
    throw new EventRefused('the time of the delivery is too far from the current time')
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest()
  const given = headerOf(headers, 'webhook-signature')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice(3), 'base64'))
  if (!given.some((signature) => same(signature, expected))) throw new EventRefused('no signature matches')
  return JSON.parse(body.toString()) as HeddleEvent
}
