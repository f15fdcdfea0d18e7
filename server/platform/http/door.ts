import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { makeLru } from '#model/lru'
import { SECOND } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Problem } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Admission } from './admission.ts'
import { problemAnswer } from './answer.ts'
import type { Identity } from './context.ts'
import { limits, type RateLimiter } from './limits.ts'
import type { Patience } from './patience.ts'
import { secureHeaders } from './security.ts'
import { limitKeyOf, rateHeaders, rateLimited } from './throttle.ts'

// Refuses before the framework has seen the request: a flood of refusals is itself a load, and this halves it. Only programs
// that were here before are refused so; pages of other origins are refused later, with the headers that let them read it.

export type Door = {
  /** Whose credential it was when it was last looked up. */
  tenantOf(credential: string): string | undefined
  /** Remembers whose it is. */
  know(credential: string, identity: Identity): void
}

type Known = { tenant: string; limitKey: string }
type Refusal = { problem: Problem; headers?: Record<string, string> }

export function guardDoor(
  server: Server,
  deps: {
    config: Config
    admission: Pick<Admission, 'hasNoRoomFor' | 'overloaded'>
    patience: Patience
    limiter: Pick<RateLimiter, 'look'>
    onOverloaded?: (() => void) | undefined
  },
): Door {
  const { config, admission, limiter, patience } = deps
  const known = makeLru<Known>(10_000)
  const limited = config.HEDDLE_RATE_LIMITS === 'on'

  const refusalOf = ({ headers: { authorization, origin }, url }: IncomingMessage): Refusal | undefined => {
    const caller = authorization !== undefined && origin === undefined ? known.get(authorization) : undefined
    if (!caller || !/^\/(api|auth)\//.test(url!)) return undefined
    if (admission.hasNoRoomFor(caller.tenant)) {
      deps.onOverloaded?.()
      return { problem: admission.overloaded() }
    }
    const verdict = limited ? limiter.look(limits.general, caller.limitKey) : undefined
    if (!verdict || verdict.allowed) return undefined
    const retryAfterS = Math.max(verdict.retryAfterS, patience.retryAfterS())
    return { problem: rateLimited(retryAfterS), headers: rateHeaders({ ...verdict, retryAfterS }) }
  }

  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const refusal = refusalOf(request)
    if (!refusal) return handle(request, response)
    const id = newId()
    const { status, headers, body } = problemAnswer(refusal.problem, id)
    response.writeHead(status, {
      ...secureHeaders,
      ...headers,
      ...refusal.headers,
      'x-request-id': id,
      'content-length': body!.length,
    })
    // As text: then it leaves together with the headers.
    response.end(body!.toString('latin1'), 'latin1', () => {
      if (isItsOwn(request, config)) setImmediate(rest, request.socket, refusal.problem.retryAfterS ?? 1)
    })
  })

  return {
    tenantOf: (credential) => known.get(credential)?.tenant,
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

/**
 * Anyone who was refused and asks again at once is not even heard: a thousand that did so took two thirds of the throughput from
 * everybody. Nothing is lost; what they send waits in the kernel.
 */
function rest(socket: Socket, seconds: number): void {
  socket.pause()
  setTimeout(() => socket.resume(), seconds * SECOND).unref()
}
