import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addVary } from './encoding.ts'

// Pages of other origins that use API keys. A browser adds cookies by itself but never an Authorization header. So only
// requests with that header are allowed, and no page may send cookies. Widgets have their own rules
// (areas/embed/origins.ts).

const ADDRESS = /^\/(?:api(?!\/embed\/(?:template|workflow)\/)|auth)\//

const ALLOWED =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, X-Workspace-Id, X-Request-Id'
const EXPOSED =
  'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, ETag, Location, Idempotent-Replayed, Deprecation, Sunset, Content-Disposition'

/** A preflight contains no credential, it only announces one. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

const announcesKey = ({ headers }: FastifyRequest): boolean =>
  (headers['access-control-request-headers'] ?? '')
    .split(',')
    .some((name: string) => name.trim().toLowerCase() === 'authorization')

export function addKeyCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const listed = new Set(origins)
  const any = listed.has('*')
  app.addHook('onRequest', (request, reply, done) => {
    if (!ADDRESS.test(request.url)) return done()
    const { origin, authorization } = request.headers
    if (!any) reply.header('vary', addVary(reply.getHeader('vary'), 'Origin'))
    const preflight = isPreflight(request)
    const isAllowed =
      origin !== undefined &&
      (any || listed.has(origin)) &&
      (preflight ? announcesKey(request) : authorization !== undefined)
    if (!isAllowed) return done()
    reply.header('access-control-allow-origin', any ? '*' : origin)
    if (!preflight) {
      reply.header('access-control-expose-headers', EXPOSED)
      return done()
    }
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': ALLOWED,
        'access-control-max-age': '600',
      })
      .send()
  })
}
