import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../errors.ts'
import type { Credential } from './context.ts'
import { limits, type RateLimiter, type Verdict } from './limits.ts'
import type { AnyRoute } from './route.ts'

/**
 * Returns the key of an address for limits. A client with an IPv6 address usually has 2^64 of them, which count as one.
 */
export function callerAddress(ip: string | undefined): string {
  // A closed connection no longer has an address.
  if (ip === undefined) return 'gone'
  if (!ip.includes(':') || ip.toLowerCase().startsWith('::ffff:')) return ip
  const [before = '', after] = ip.split('%')[0]!.toLowerCase().split('::')
  const groups = before.split(':').filter((group) => group !== '')
  const following = (after ?? '').split(':').filter((group) => group !== '')
  const missing = Math.max(0, 8 - groups.length - following.length)
  return `${[...groups, ...Array<string>(missing).fill('0'), ...following].slice(0, 4).join(':')}::/64`
}

/**
 * Counts a request of an unidentified caller against its address. Otherwise guessing credentials would cost nothing.
 */
export function countUnidentified(
  limiter: RateLimiter,
  request: { ip: string | undefined },
  reply: Pick<FastifyReply, 'headers'>,
): void {
  const verdict = limiter.take(limits.address, callerAddress(request.ip))
  reply.headers(rateHeaders(verdict))
  if (!verdict.allowed) throw rateLimited(verdict.retryAfterS)
}

export const rateHeaders = ({ limit, remaining, retryAfterS }: Verdict): Record<string, string> => ({
  'ratelimit-policy': `"${limit.name}";q=${limit.burst};w=${Math.ceil(limit.burst / limit.perSecond)}`,
  ratelimit: `"${limit.name}";r=${remaining};t=${retryAfterS}`,
})

export const limitKeyOf = (credential: Exclude<Credential, { kind: 'none' }>): string =>
  `${credential.kind}:${credential.id}`

export const rateLimited = (retryAfterS: number) =>
  problem('rate_limited', `Wait ${retryAfterS} s before the next request.`, { retryAfterS })

/** Counts a call with a known credential. A burst beyond the limit is refused before it waits for a place. */
export function countKnownCaller(
  limiter: RateLimiter,
  limitKey: string,
  reply: Pick<FastifyReply, 'headers'>,
): Verdict {
  const verdict = limiter.take(limits.general, limitKey)
  if (verdict.allowed) return verdict
  reply.headers(rateHeaders(verdict))
  throw rateLimited(verdict.retryAfterS)
}

/** `counted`: the verdict of a call that was counted before its caller was identified. */
export function applyLimits(
  limiter: RateLimiter,
  route: AnyRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  counted: Verdict | undefined,
): void {
  const { credential, workspace } = request.identity!
  const address = callerAddress(request.ip)
  const key = credential.kind === 'none' ? address : limitKeyOf(credential)
  const verdicts = [counted ?? limiter.take(credential.kind === 'none' ? limits.address : limits.general, key)]
  if (workspace) verdicts.push(limiter.take(limits.workspace, workspace.workspace_id))
  if (route.rate === 'visitor')
    verdicts.push(
      limiter.take(
        limits.visitor,
        credential.kind === 'embed' && credential.visitor_id ? credential.visitor_id : address,
      ),
    )
  else if (route.rate === 'sign_up') verdicts.push(limiter.take(limits.sign_up, address))
  const tightest = verdicts.reduce((a, b) => (b.remaining < a.remaining ? b : a))
  reply.headers(rateHeaders(tightest))
  const refused = verdicts.find((verdict) => !verdict.allowed)
  if (refused) throw rateLimited(refused.retryAfterS)
}

/** Only failed sign-ins count. A response that was never sent is a failure. */
export async function limitSignIn(limiter: RateLimiter, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { verdict, settle } = await limiter.hold(limits.sign_in, callerAddress(request.ip))
  reply.headers(rateHeaders(verdict))
  if (!verdict.allowed) throw rateLimited(verdict.retryAfterS)
  const { raw } = reply
  if (raw.closed) {
    // A client that disconnected while waiting has tried nothing.
    settle(false)
    throw rateLimited(1)
  }
  raw.once('close', () => settle(!raw.writableFinished || raw.statusCode >= 400))
}
