import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { equalSecrets, signatureFault } from '#platform/auth/signatures'
import type { ServiceHook } from '#providers/services/manifest'
import { firstAt } from '#providers/services/paths'

// What a vendor's request says of itself: whether it is the vendor's, which delivery it is, and which event.

type Headers = Record<string, string | string[] | undefined>

const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Why a request is not the vendor's; undefined where it is. */
export function hookFault(
  { verify }: ServiceHook,
  { headers, body, secret, now }: { headers: Headers; body: Buffer; secret: string; now: number },
): string | undefined {
  if (verify.kind === 'equal') {
    const given = headerOf(headers, verify.header)
    return given !== undefined && equalSecrets(given, secret) ? undefined : `${verify.header} is missing or wrong`
  }
  const { preset, header, prefix, encoding } = verify
  // Vendors that sign as Stripe does, under a name of their own.
  const seen =
    header && preset === 'stripe' ? { ...headers, 'stripe-signature': headers[header.toLowerCase()] } : headers
  const settings = { preset, header, prefix, encoding, algorithm: 'sha256' as const }
  return signatureFault(settings, { headers: seen, body, secret, now })
}

/** Names under which vendors number their deliveries; a repetition has the same number. */
const DELIVERY_HEADERS = [
  'webhook-id',
  'svix-id',
  'x-github-delivery',
  'x-shopify-webhook-id',
  'x-wc-webhook-delivery-id',
  'idempotency-key',
]
const MAX_DELIVERY = 200

/** Undefined where the vendor gives none: then every request counts. */
export function deliveryOf(
  hook: ServiceHook | undefined,
  { headers, body }: { headers: Headers; body: Json },
): string | undefined {
  const own = hook?.delivery
  const named = own?.header === undefined ? undefined : headerOf(headers, own.header)
  const inside = own?.body === undefined ? undefined : firstAt(body, own.body.split('|'))
  const found =
    named ?? inside ?? (hook ? undefined : DELIVERY_HEADERS.map((name) => headerOf(headers, name)).find(Boolean))
  if (typeof found !== 'string' && typeof found !== 'number') return undefined
  return String(found).slice(0, MAX_DELIVERY)
}

/** The name of the event; undefined where it says nothing that starts a run. */
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

/** Whether a request asks the receiver to prove itself, as the piece describes such requests. */
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
