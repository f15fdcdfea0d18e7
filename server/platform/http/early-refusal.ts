import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { makeLru } from '#model/lru'
import type { Config } from '../config.ts'
import type { Problem } from '../errors.ts'
import { newId, UNKNOWN_ID } from '../ids.ts'
import { type Admission, overloaded } from './admission.ts'
import { problemAnswer } from './answer.ts'
import { queueNewConnections } from './connection-queue.ts'
import type { Identity } from './context.ts'
import { type Limit, limits, type RateLimiter } from './limits.ts'
import { limitNewConnections } from './new-connections.ts'
import { makePauses } from './pauses.ts'
import type { RetryAfter } from './retry-after.ts'
import { secureHeaders } from './security.ts'
import { limitKeyOf, rateHeaders, rateLimited } from './throttle.ts'

// Refuses requests before the framework has seen them: a flood of refusals is itself a load, and this halves it. Only
// known programs are refused this way. Pages of other origins are refused later, with the headers that let them read
// the refusal.

export type KnownCallers = {
  /** Returns the caller who had this credential when it was last looked up. */
  callerOf(credential: string): KnownCaller | undefined
  /** Remembers the caller of the credential. */
  remember(credential: string, identity: Identity): void
}

/** `limitKey`: the key of the rate limit for calls with this credential. */
export type KnownCaller = { tenant: string; limitKey: string }

/** A prepared refusal without the request id. Refusals of the same kind differ only in that id. */
type Refusal = { status: number; headers: string[]; body: [before: string, after: string]; retryAfterS: number }

const prepare = (problem: Problem, retryAfterS: number, more: Record<string, string> = {}): Refusal => {
  const { status, headers, body } = problemAnswer(problem, UNKNOWN_ID)
  const [before, after] = body!.toString('latin1').split(UNKNOWN_ID) as [string, string]
  const all = { ...secureHeaders, ...headers, ...more, 'content-length': String(body!.length) }
  return { status, headers: Object.entries(all).flat(), body: [before, after], retryAfterS }
}

/** Prepares each refusal once per number of seconds, because there are only a few. */
function prepared(make: (retryAfterS: number) => Refusal): (retryAfterS: number) => Refusal {
  const made = new Map<number, Refusal>()
  return (retryAfterS) => {
    const known = made.get(retryAfterS)
    if (known) return known
    const refusal = make(retryAfterS)
    made.set(retryAfterS, refusal)
    return refusal
  }
}

const tooMuch = prepared((retryAfterS) => prepare(overloaded(retryAfterS), retryAfterS))
const tooOften = prepared((retryAfterS) => {
  // A limit that refuses has nothing remaining.
  const verdict = { allowed: false, limit: limits.general as Limit, remaining: 0, retryAfterS, waitMs: 0 }
  return prepare(rateLimited(retryAfterS), retryAfterS, rateHeaders(verdict))
})

export function refuseEarly(
  server: Server,
  deps: {
    config: Config
    admission: Pick<Admission, 'hasNoRoomFor' | 'isSharedBy'>
    retryAfter: RetryAfter
    limiter: Pick<RateLimiter, 'peek'>
    onOverloaded?: (() => void) | undefined
  },
): KnownCallers {
  const { config, admission, limiter, retryAfter } = deps
  const known = makeLru<KnownCaller>(10_000)
  const pauses = makePauses()
  const limited = config.HEDDLE_RATE_LIMITS === 'on'

  const refusalOf = (request: IncomingMessage): Refusal | undefined => {
    const { authorization, origin } = request.headers
    const caller = authorization !== undefined && origin === undefined ? known.get(authorization) : undefined
    if (!caller || !/^\/(api|auth)\//.test(request.url!)) return undefined
    if (admission.hasNoRoomFor(caller.tenant)) {
      deps.onOverloaded?.()
      return tooMuch(retryAfter.retryAfterS())
    }
    const verdict = limited ? limiter.peek(limits.general, caller.limitKey) : undefined
    if (verdict && verdict.waitMs > 0 && admission.isSharedBy(caller.tenant) && servesOneClient(request, config))
      slowDown(request.socket, verdict.waitMs)
    if (!verdict || verdict.allowed) return undefined
    return tooOften(Math.max(verdict.retryAfterS, retryAfter.retryAfterS()))
  }

  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  server.removeAllListeners('request')
  const { requested } = limitNewConnections(server)
  const { slowDown } = queueNewConnections(server)
  server.on('request', (request, response) => {
    requested(request.socket)
    const refusal = refusalOf(request)
    if (!refusal) return handle(request, response)
    const { status, headers, body, retryAfterS } = refusal
    const id = newId()
    response.writeHead(status, [...headers, 'x-request-id', id])
    // As text, so that the body is sent together with the headers.
    response.end(body[0] + id + body[1], 'latin1', () => {
      // The connection of a refused client is not read for a while. A thousand clients that retried at once took two
      // thirds of the throughput from all others.
      if (servesOneClient(request, config)) setImmediate(pauses.pause, request.socket, retryAfterS)
    })
  })

  return {
    callerOf: (credential) => known.get(credential),
    remember: (credential, identity) => {
      const { workspace, credential: shown } = identity
      if (workspace === null || shown.kind === 'none' || known.get(credential)?.tenant === workspace.workspace_id)
        return
      known.set(credential, { tenant: workspace.workspace_id, limitKey: limitKeyOf(shown) })
    },
  }
}

/** Checks whether the connection serves a single client. A proxy sends requests of many clients over one connection. */
const servesOneClient = ({ headers }: IncomingMessage, config: Config): boolean =>
  config.HEDDLE_TRUSTED_PROXIES.length === 0 &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined &&
  headers.via === undefined
