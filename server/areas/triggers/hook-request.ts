import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { equalSecrets, signatureFault } from '#platform/auth/signatures'
import type { ServiceHook } from '#providers/services/manifest'
import { firstAt, valueAt } from '#providers/services/paths'

// Reads a vendor's request: whether it comes from the vendor, and its delivery and event.

type Headers = Record<string, string | string[] | undefined>

const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns why a request is not from the vendor, or undefined if it is. */
export function hookFault(
  hook: ServiceHook,
  { headers, body, secret, now }: { headers: Headers; body: Buffer; secret: string; now: number },
): string | undefined {
  const { verify } = hook
  if (verify.kind === 'equal') {
    const given = headerOf(headers, verify.header)
    return given !== undefined && equalSecrets(given, secret) ? undefined : `${verify.header} is missing or wrong`
  }
  if (verify.kind === 'body') {
    const items = eventsIn(hook, readJson(body))
    const isProven = (item: Json): boolean => {
      const given = isObject(item) ? item[verify.field] : undefined
      return typeof given === 'string' && equalSecrets(given, secret)
    }
    return items.length > 0 && items.every(isProven) ? undefined : `${verify.field} is missing or wrong`
  }
  const { preset, header, prefix, encoding } = verify
  // For vendors that sign as Stripe does, but in a header with another name.
  const seen =
    header && preset === 'stripe' ? { ...headers, 'stripe-signature': headers[header.toLowerCase()] } : headers
  const settings = { preset, header, prefix, encoding, algorithm: 'sha256' as const }
  return signatureFault(settings, { headers: seen, body, secret, now })
}

function readJson(body: Buffer): Json {
  try {
    return JSON.parse(body.toString('utf8')) as Json
  } catch {
    return null
  }
}

/** Returns the events of one request. */
function eventsIn({ items }: ServiceHook, body: Json): Json[] {
  if (items === undefined) return [body]
  const found = valueAt(body, items)
  return Array.isArray(found) ? found : []
}

/** Returns the payload to store, without the secret in it. */
export function withoutProof(hook: ServiceHook | undefined, payload: JsonObject): JsonObject {
  if (hook?.verify.kind !== 'body') return payload
  const { field } = hook.verify
  const strip = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(strip)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => (name === field ? [] : [[name, strip(inner)]])),
    )
  }
  return { ...payload, body: strip(payload.body ?? null), raw_body: null }
}

/** Returns the value that a request asks the receiver to repeat. */
export function challengeOf({ handshake }: ServiceHook, query: JsonObject): string | undefined {
  const value = handshake && query[handshake.query]
  return typeof value === 'string' ? value.slice(0, MAX_CHALLENGE) : undefined
}

const MAX_CHALLENGE = 2_000

/** Headers in which vendors number their deliveries. A repeated delivery has the same number. */
const DELIVERY_HEADERS = [
  'webhook-id',
  'svix-id',
  'x-github-delivery',
  'x-shopify-webhook-id',
  'x-wc-webhook-delivery-id',
  'idempotency-key',
]
const MAX_DELIVERY = 200

/** Joins the values of several headers. Returns undefined if one is missing. */
function headersOf(headers: Headers, names: string): string | undefined {
  const values = names.split(' ').map((name) => headerOf(headers, name))
  return values.includes(undefined) ? undefined : values.join(' ')
}

/** Returns the id of the delivery, or undefined if the vendor gives none. Then every request counts as new. */
export function deliveryOf(
  hook: ServiceHook | undefined,
  { headers, body }: { headers: Headers; body: Json },
): string | undefined {
  const own = hook?.delivery
  const named = own?.header === undefined ? undefined : headersOf(headers, own.header)
  const inside = own?.body === undefined ? undefined : firstAt(body, own.body.split('|'))
  const found =
    named ?? inside ?? (hook ? undefined : DELIVERY_HEADERS.map((name) => headerOf(headers, name)).find(Boolean))
  if (typeof found !== 'string' && typeof found !== 'number') return undefined
  return String(found).slice(0, MAX_DELIVERY)
}

/** Returns the events of a request with their names, without events to be skipped. */
export function itemsIn(hook: ServiceHook, payload: JsonObject): { item: Json; event: string | null }[] {
  const headers = isObject(payload.headers) ? payload.headers : {}
  const items = hook.headers ? [pick(hook.headers, headers)] : eventsIn(hook, payload.body ?? null)
  return items.flatMap((item) => {
    const event = eventOf(hook, { headers, body: item })
    return event === undefined ? [] : [{ item, event }]
  })
}

const pick = (names: Record<string, string>, headers: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(names).map(([name, header]) => [name, headers[header.toLowerCase()] ?? null]))

/** Returns the name of the event, or undefined if the event must be skipped. */
export function eventOf(hook: ServiceHook, payload: JsonObject): string | null | undefined {
  const { event, skip = [] } = hook
  const headers = isObject(payload.headers) ? payload.headers : {}
  const found =
    event?.header === undefined
      ? event?.body && firstAt(payload.body ?? null, event.body.split('|'))
      : headers[event.header.toLowerCase()]
  const name = typeof found === 'string' ? found.slice(0, 100) : null
  return name !== null && skip.includes(name) ? undefined : name
}

/** Checks whether a request is a handshake, as the piece describes it. */
export function isHandshake(
  handshake: JsonObject | null,
  { headers, query, body }: { headers: Headers; query: JsonObject; body: Json },
): boolean {
  if (!handshake || typeof handshake.paramName !== 'string') return false
  const { strategy, paramName } = handshake
  if (strategy === 'HEADER_PRESENT') return headerOf(headers, paramName) !== undefined
  if (strategy === 'QUERY_PRESENT') return Object.hasOwn(query, paramName)
  return strategy === 'BODY_PARAM_PRESENT' && isObject(body) && Object.hasOwn(body, paramName)
}
