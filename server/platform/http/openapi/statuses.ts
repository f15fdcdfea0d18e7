import type { AnyRoute } from '../route.ts'

// Which statuses an operation can answer, derived from its declaration. The tests fail for an answer that is not among them.

export const successesOf = (route: AnyRoute): number[] => [
  route.status ?? (route.answer || route.produces ? 200 : 204),
  ...(route.alsoStatus ?? []),
]

/** A GET whose answer is a resource has an ETag, so that If-None-Match can be answered with 304. */
export const mayBeUnchanged = (route: AnyRoute, tagged: boolean): boolean =>
  route.method === 'GET' && (tagged || route.operation === 'getDataset')

export function refusalsOf(route: AnyRoute): number[] {
  // Every request may name an unknown host or an unknown parameter, may come at a bad moment, and may ask for too large an answer.
  const statuses = new Set<number>([400, 404, 413, 422, 429, 500, 503, ...(route.alsoRefuses ?? [])])
  // One address for all methods; a token says which it takes, and may wait for the end of the run.
  if (route.access.word === 'token' && route.access.scope === 'inbound') statuses.add(405)
  if (route.access.word === 'token') statuses.add(410).add(504)
  // Where anyone may call, what they send may still have to prove something: a password, a signature, a code.
  const proves = route.query !== undefined || route.path.includes(':') || route.method !== 'GET'
  if (route.access.word !== 'anyone' || proves) statuses.add(401).add(403).add(409)
  if (route.method !== 'GET') for (const status of [415, 507]) statuses.add(status)
  if ((route.method !== 'GET' && route.method !== 'POST') || (route.method === 'POST' && route.current))
    statuses.add(412)
  return [...statuses].sort((a, b) => a - b)
}

/** Everything that the operation may answer. */
export const statusesOf = (route: AnyRoute, tagged: boolean): ReadonlySet<number> =>
  new Set([...successesOf(route), ...(mayBeUnchanged(route, tagged) ? [304] : []), ...refusalsOf(route)])
