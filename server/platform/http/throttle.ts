import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../errors.ts'
import { limits, type RateLimiter } from './limits.ts'
import type { AnyRoute } from './route.ts'

export function applyLimits(limiter: RateLimiter, route: AnyRoute, request: FastifyRequest, reply: FastifyReply): void {
  const { credential, workspace } = request.identity!
  const key = credential.kind === 'none' ? request.ip : `${credential.kind}:${credential.id}`
  const verdicts = [limiter.take(credential.kind === 'none' ? limits.address : limits.general, key)]
  if (workspace) verdicts.push(limiter.take(limits.workspace, workspace.workspace_id))
  if (route.rate === 'visitor')
    verdicts.push(
      limiter.take(
        limits.visitor,
        credential.kind === 'embed' && credential.visitor_id ? credential.visitor_id : request.ip,
      ),
    )
  else if (route.rate) verdicts.push(limiter.take(limits[route.rate], request.ip))
  const tightest = verdicts.reduce((a, b) => (b.remaining < a.remaining ? b : a))
  reply.header(
    'ratelimit-policy',
    `"${tightest.limit.name}";q=${tightest.limit.burst};w=${Math.ceil(tightest.limit.burst / tightest.limit.perSecond)}`,
  )
  reply.header('ratelimit', `"${tightest.limit.name}";r=${tightest.remaining};t=${tightest.retryAfterS}`)
  const refused = verdicts.find((verdict) => !verdict.allowed)
  if (refused)
    throw problem('rate_limited', `Wait ${refused.retryAfterS} s before the next request.`, {
      retryAfterS: refused.retryAfterS,
    })
  if (route.rate === 'sign_in') {
    reply.raw.once('finish', () => {
      if (reply.statusCode < 400) limiter.giveBack(limits.sign_in, request.ip)
    })
  }
}
