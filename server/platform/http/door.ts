import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { makeLru } from '#model/lru'
import type { Config } from '../config.ts'
import type { Problem } from '../errors.ts'
import { NOWHERE, newId } from '../ids.ts'
import { type Admission, overloaded } from './admission.ts'
import { problemAnswer } from './answer.ts'
import type { Identity } from './context.ts'
import { introduceByTurns } from './introductions.ts'
import { type Limit, limits, type RateLimiter } from './limits.ts'
import { limitNewConnections } from './new-connections.ts'
import type { Patience } from './patience.ts'
import { makePauses } from './pauses.ts'
import { secureHeaders } from './security.ts'
import { limitKeyOf, rateHeaders, rateLimited } from './throttle.ts'

// Refuses before the framework has seen the request: a flood of refusals is itself a load, and this halves it. Only programs
// that were here before are refused so; pages of other origins are refused later, with the headers that let them read it.

export type Door = {
  /** Whose credential it was when it was last looked up. */
  callerOf(credential: string): Known | undefined
  /** Remembers whose it is. */
  know(credential: string, identity: Identity): void
}

/** `limitKey`: what the calls with the credential are counted under. */
export type Known = { tenant: string; limitKey: string }

/** A refusal but for the id of the request: all others of the same kind are the same. */
type Refusal = { status: number; headers: string[]; body: [before: string, after: string]; retryAfterS: number }

const prepare = (problem: Problem, retryAfterS: number, more: Record<string, string> = {}): Refusal => {
  const { status, headers, body } = problemAnswer(problem, NOWHERE)
  const [before, after] = body!.toString('latin1').split(NOWHERE) as [string, string]
  const all = { ...secureHeaders, ...headers, ...more, 'content-length': String(body!.length) }
  return { status, headers: Object.entries(all).flat(), body: [before, after], retryAfterS }
}

/** Made once for each number of seconds, of which there are few. */
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
  // Nothing remains of a limit that refuses.
  const verdict = { allowed: false, limit: limits.general as Limit, remaining: 0, retryAfterS }
  return prepare(rateLimited(retryAfterS), retryAfterS, rateHeaders(verdict))
})

export function guardDoor(
  server: Server,
  deps: {
    config: Config
    admission: Pick<Admission, 'hasNoRoomFor'>
    patience: Patience
    limiter: Pick<RateLimiter, 'look'>
    onOverloaded?: (() => void) | undefined
  },
): Door {
  const { config, admission, limiter, patience } = deps
  const known = makeLru<Known>(10_000)
  const pauses = makePauses()
  const limited = config.HEDDLE_RATE_LIMITS === 'on'

  const refusalOf = ({ headers: { authorization, origin }, url }: IncomingMessage): Refusal | undefined => {
    const caller = authorization !== undefined && origin === undefined ? known.get(authorization) : undefined
    if (!caller || !/^\/(api|auth)\//.test(url!)) return undefined
    if (admission.hasNoRoomFor(caller.tenant)) {
      deps.onOverloaded?.()
      return tooMuch(patience.retryAfterS())
    }
    const verdict = limited ? limiter.look(limits.general, caller.limitKey) : undefined
    if (!verdict || verdict.allowed) return undefined
    return tooOften(Math.max(verdict.retryAfterS, patience.retryAfterS()))
  }

  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  server.removeAllListeners('request')
  const { requested } = limitNewConnections(server)
  introduceByTurns(server)
  server.on('request', (request, response) => {
    requested(request.socket)
    const refusal = refusalOf(request)
    if (!refusal) return handle(request, response)
    const { status, headers, body, retryAfterS } = refusal
    const id = newId()
    response.writeHead(status, [...headers, 'x-request-id', id])
    // As text: then it leaves together with the headers.
    response.end(body[0] + id + body[1], 'latin1', () => {
      // Anyone who was refused and asks again at once is not read from meanwhile: a thousand that did so took two thirds of the throughput
      // from everybody.
      if (isItsOwn(request, config)) setImmediate(pauses.pause, request.socket, retryAfterS)
    })
  })

  return {
    callerOf: (credential) => known.get(credential),
    know: (credential, identity) => {
      const { workspace, credential: shown } = identity
      if (workspace === null || shown.kind === 'none' || known.get(credential)?.tenant === workspace.workspace_id)
        return
      known.set(credential, { tenant: workspace.workspace_id, limitKey: limitKeyOf(shown) })
    },
  }
}

/** What a proxy sends over one connection comes from many. */
const isItsOwn = ({ headers }: IncomingMessage, config: Config): boolean =>
  config.HEDDLE_TRUSTED_PROXIES.length === 0 &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined &&
  headers.via === undefined
