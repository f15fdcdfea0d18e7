import type { FastifyInstance, FastifyRequest } from 'fastify'
import { makeLru } from '#model/lru'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { problemAnswer, sendAnswer } from '#platform/http/answer'
import { fromWire } from '#platform/ids'

// Decides which pages may use a widget. An origin is not a credential, because a client that is not a browser can send
// any origin. The check prevents other sites from using a token in the browsers of their visitors.

const KEPT_FOR = 800
const HOSTS_KEPT_FOR = 2000
const NONE: Promise<ReadonlySet<string>> = Promise.resolve(new Set<string>())
const ADDRESS = /^\/api\/embed\/(template|workflow)\/([^/?#]+)\//

const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)

export function makeOrigins({ db, baseUrl }: { db: Database; baseUrl(): string }) {
  const known = makeLru<{ at: number; listed: Promise<ReadonlySet<string>> }>(10_000)
  let hosts: { at: number; found: Promise<Set<string>> } | undefined

  const hostsOfOrgs = (): Promise<Set<string>> => {
    if (!hosts || performance.now() - hosts.at > HOSTS_KEPT_FOR) {
      const found = db.appPool
        .query<{ host: string }>('select host from org_hosts')
        .then(({ rows }) => new Set(rows.map(({ host }) => host)))
      hosts = { at: performance.now(), found }
      found.catch(() => {
        hosts = undefined
      })
    }
    return hosts.found
  }

  /**
   * Checks whether a page belongs to the service itself: to its base URL or to the host of one of its organisations.
   */
  async function isOwn(origin: string, request: FastifyRequest): Promise<boolean> {
    if (!URL.canParse(origin)) return false
    const { host, hostname } = new URL(origin)
    if (origin === new URL(baseUrl()).origin) return true
    if (host !== request.host.toLowerCase()) return false
    return isLoopback(hostname) || (await hostsOfOrgs()).has(hostname) || (await hostsOfOrgs()).has(host)
  }

  /**
   * Returns the origins listed by a template, or by the tokens of a template or workflow, because a preflight carries
   * no token. The cache key is the id, so a flood of invented origins causes no database queries.
   */
  function listedBy(kind: string, id: string): Promise<ReadonlySet<string>> {
    const uuid = fromWire(kind === 'template' ? 'tmpl' : 'wf', id)
    if (uuid === undefined) return NONE
    const cached = known.get(uuid)
    if (cached && performance.now() - cached.at < KEPT_FOR) return cached.listed
    const listed = db.appPool
      .query<{ origin: string }>({
        name: 'embed_origins',
        text: 'select origin from embed_origins($1, $2) as origin',
        values: kind === 'template' ? [uuid, null] : [null, uuid],
      })
      .then(({ rows }) => new Set(rows.map(({ origin }) => origin)))
    known.set(uuid, { at: performance.now(), listed })
    listed.catch(() => known.set(uuid, { at: Number.NEGATIVE_INFINITY, listed }))
    return listed
  }

  return {
    /** Refuses an origin that the token does not list, and a missing origin if the token requires one. */
    async check(request: FastifyRequest, token: { allowed_origins: string[]; require_origin: boolean }): Promise<void> {
      const { origin } = request.headers
      if (origin === undefined) {
        if (!token.require_origin) return
        throw problem('origin_refused', 'The token can be used only by web pages: the request has no Origin header.')
      }
      if (token.allowed_origins.includes(origin) || (await isOwn(origin, request))) return
      throw problem('origin_refused', 'Add the origin of the page to allowed_origins of the embed token.')
    },

    /**
     * Answers preflights and lets listed pages read every response, including refusals. Never sends a wildcard or a
     * cookie.
     */
    addTo(app: FastifyInstance): void {
      app.addHook('onRequest', async (request, reply) => {
        const address = ADDRESS.exec(request.url)
        if (!address) return
        const { origin } = request.headers
        reply.header('vary', 'Origin')
        reply.header('cross-origin-resource-policy', 'cross-origin')
        const listed =
          origin !== undefined &&
          ((await isOwn(origin, request)) || (await listedBy(address[1]!, address[2]!)).has(origin))
        if (listed) {
          reply.header('access-control-allow-origin', origin)
          reply.header('access-control-expose-headers', EXPOSED)
        }
        if (request.method !== 'OPTIONS') return
        if (!listed) {
          const refusal = problem('origin_refused', 'Add the origin of the page to allowed_origins of an embed token.')
          return sendAnswer(reply, problemAnswer(refusal, request.id))
        }
        reply.header('access-control-allow-methods', 'GET, POST')
        reply.header('access-control-allow-headers', ALLOWED)
        reply.header('access-control-max-age', '600')
        return reply.code(204).send()
      })
    },
  }
}

const ALLOWED =
  'Authorization, Content-Type, X-Visitor-Token, Idempotency-Key, X-Request-Id, If-None-Match, Last-Event-ID'
const EXPOSED = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, ETag'

export type Origins = ReturnType<typeof makeOrigins>
