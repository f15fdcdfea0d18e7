import type { AnyRoute } from '../route.ts'

// Derives the possible statuses of an operation from its declaration. The tests fail for a response with another
// status.

export const successesOf = (route: AnyRoute): number[] => [
  route.status ?? (route.answer || route.produces ? 200 : 204),
  ...(route.alsoStatus ?? []),
]

/** A GET whose answer is a resource has an ETag, so that If-None-Match can be answered with 304. */
export const mayBeUnchanged = (route: AnyRoute, tagged: boolean): boolean =>
  route.method === 'GET' && (tagged || route.operation === 'getDataset')

export function refusalsOf(route: AnyRoute): number[] {
  // Every request may name an unknown host or parameter, may arrive at a bad moment, and may request a response that is
  // too large.
  const statuses = new Set<number>([400, 404, 413, 422, 429, 500, 503, ...(route.alsoRefuses ?? [])])
  // All methods share one address; the token decides which methods it accepts, and may wait for the end of the
  // execution.
  if (route.access.word === 'token' && route.access.scope === 'inbound') statuses.add(405)
  if (route.access.word === 'token') statuses.add(410).add(504)
  // Even if anyone may call, the request may have to prove something: a password, a signature, a code.
  const proves = route.query !== undefined || route.path.includes(':') || route.method !== 'GET'
  if (route.access.word !== 'anyone' || proves) statuses.add(401).add(403).add(409)
  if (route.method !== 'GET') for (const status of [415, 507]) statuses.add(status)
  if ((route.method !== 'GET' && route.method !== 'POST') || (route.method === 'POST' && route.current))
    statuses.add(412)
  return [...statuses].sort((a, b) => a - b)
}

/** Returns all statuses of the operation. */
export const statusesOf = (route: AnyRoute, tagged: boolean): ReadonlySet<number> =>
  new Set([...successesOf(route), ...(mayBeUnchanged(route, tagged) ? [304] : []), ...refusalsOf(route)])
