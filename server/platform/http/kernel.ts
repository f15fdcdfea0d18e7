import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isProblem, type Problem, problem, statusOf } from '../errors.ts'
import { type Admission, makeAdmission, type Turn } from './admission.ts'
import { problemAnswer, sendAnswer, toProblem } from './answer.ts'
import { arrivals } from './arrivals.ts'
import { credentialOf, identify } from './caller.ts'
import { checkDeprecations, deprecationHeaders } from './deprecation.ts'
import { type KnownCaller, type KnownCallers, refuseEarly } from './early-refusal.ts'
import { makeHandler, tenantOf } from './handler.ts'
import { type Idempotency, makeIdempotency } from './idempotency.ts'
import type { Kernel } from './kernel-parts.ts'
import { type LargeAnswers, makeLargeAnswers } from './large-answers.ts'
import { makeRateLimiter, type RateLimiter, type Verdict } from './limits.ts'
import { isResource } from './render.ts'
import { makeRetryAfter } from './retry-after.ts'
import type { AnyRoute } from './route.ts'
import { type Encode, lazyEncoder } from './schema.ts'
import { shareSpending } from './shared-limits.ts'
import { applyLimits, callerAddress, countKnownCaller, countUnidentified, limitSignIn } from './throttle.ts'
import { hasBody } from './upload.ts'

/** Adds the routes of every area. */
export function addRoutes(app: FastifyInstance, routes: AnyRoute[], kernel: Kernel): void {
  checkDeprecations(routes)
  const limiter = makeRateLimiter()
  if (kernel.peers) shareSpending(limiter, kernel.peers)
  const retryAfter = makeRetryAfter()
  const admission = makeAdmission(kernel.config.HEDDLE_MAX_AT_WORK, retryAfter)
  kernel.onAdmission?.(admission.figures)
  const { config, onOverloaded } = kernel
  const shared = {
    idempotency: makeIdempotency(kernel.vault),
    largeAnswers: makeLargeAnswers(),
    limiter,
    admission,
    knownCallers: refuseEarly(app.server, { config, admission, limiter, retryAfter, onOverloaded }),
    encoders: encodersOf(routes),
    resources: new Set(routes.filter(isResource).map(({ answer }) => answer)),
  }
  for (const route of routes) if (route.bodyKind !== 'stream') addRoute(app, route, kernel, shared)
  // The route itself reads a body that is a stream.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const passThrough = (
      _request: FastifyRequest,
      payload: unknown,
      done: (error: Error | null, body?: unknown) => void,
    ): void => done(null, payload)
    scope.addContentTypeParser('*', passThrough as never)
    scope.addContentTypeParser(/^.*/, passThrough as never)
    for (const route of routes) if (route.bodyKind === 'stream') addRoute(scope, route, kernel, shared)
  })
}

type Shared = {
  idempotency: Idempotency
  largeAnswers: LargeAnswers
  limiter: RateLimiter
  admission: Admission
  knownCallers: KnownCallers
  encoders: Map<unknown, Encode>
  /** The schemas of resources that can be read alone. */
  resources: Set<unknown>
}

/**
 * Returns the encoder of each `current`, taken from a GET or PATCH with the same verb: a DELETE has no response body,
 * and its If-Match must mean the ETag that the others returned.
 */
function encodersOf(routes: AnyRoute[]): Map<unknown, Encode> {
  const encoders = new Map<unknown, Encode>()
  for (const route of routes) {
    if (!route.answer) continue
    const encode = lazyEncoder(route.answer)
    encoders.set(route.run, encode)
    if (route.current && !encoders.has(route.current)) encoders.set(route.current, encode)
  }
  return encoders
}

/** The caller closed the connection before the whole body had arrived. This is no failure of the service. */
const isCutOff = ({ raw }: FastifyRequest, error: unknown): boolean =>
  !raw.complete && (error as { code?: string }).code === 'ECONNRESET'
const cutOff = (): Problem => problem('malformed', 'The body ended before all of it had arrived.')

const MAX_DOCUMENT_BODY = 32 << 20

function bodyLimitOf(route: AnyRoute, config: Config): number {
  switch (route.bodyLimit) {
    case 'dataset':
      return config.HEDDLE_MAX_DATASET_BYTES
    case 'document':
      // A document is slightly longer as text inside JSON.
      return MAX_DOCUMENT_BODY
    case 'import':
      return config.HEDDLE_MAX_IMPORT_BYTES
    case 'audio':
      // The extra bytes are for the rest of the form. The code that reads the clip checks its size.
      return config.HEDDLE_MAX_AUDIO_BYTES + (64 << 10)
    case 'file':
      // The extra bytes are for the rest of the form. The size of the file is checked while it arrives.
      return config.HEDDLE_MAX_FILE_BYTES + (1 << 20)
    case undefined:
      return config.HEDDLE_MAX_JSON_BYTES
  }
}

function addRoute(app: FastifyInstance, route: AnyRoute, kernel: Kernel, shared: Shared): void {
  const handle = makeHandler(route, kernel, shared, {
    encodeCurrent: shared.encoders.get(route.current),
    tagged: route.besides !== undefined || (route.answer !== undefined && shared.resources.has(route.answer)),
  })
  const deprecation = deprecationHeaders(route)
  const answered = (request: FastifyRequest, status: number): void => {
    request.turn?.leave()
    kernel.onAnswered?.(route, status, (performance.now() - request.startedAt) / 1000)
  }
  /** For a caller from memory, checks the identity before it reports an unreadable body: 401 comes first. */
  const refusalFor = async (request: FastifyRequest, refusal: Problem): Promise<Problem> => {
    if (request.identity?.stillHolds === undefined || statusOf(refusal.code) >= 500) return refusal
    return identify(kernel, route, request, { afresh: true }).then(() => refusal, toProblem)
  }

  app.route({
    // One route for both methods: the framework would add a second route for HEAD. Node.js omits the body of a response
    // to HEAD.
    method: route.method === 'GET' && !route.withoutHead ? ['GET', 'HEAD'] : route.method,
    exposeHeadRoute: false,
    url: route.path,
    bodyLimit: bodyLimitOf(route, kernel.config),
    onRequest: async (request, reply) => {
      reply.headers(deprecation)
      const limited = kernel.config.HEDDLE_RATE_LIMITS === 'on'
      const credential = credentialOf(request)
      const known = (): KnownCaller | undefined =>
        credential === undefined ? undefined : shared.knownCallers.callerOf(credential)
      const count = (): Verdict | undefined => {
        const limitKey = limited ? known()?.limitKey : undefined
        return limitKey === undefined ? undefined : countKnownCaller(shared.limiter, limitKey, reply)
      }
      const enter = (counted?: Verdict): Turn | Promise<Turn> =>
        shared.admission.enter(known()?.tenant ?? callerAddress(request.ip), counted?.waitMs)
      let counted = count()
      // Requests are queued by tenant before anything is read.
      const turn = enter(counted)
      request.turn = turn instanceof Promise ? await turn : turn
      // Another request with the same credential may have been identified while this one waited as one of its address.
      counted ??= count()
      request.identity = await identify(kernel, route, request).catch((error: unknown) => {
        if (limited && isProblem(error)) countUnidentified(shared.limiter, request, reply)
        throw error
      })
      if (credential !== undefined) shared.knownCallers.remember(credential, request.identity)
      if (limited) applyLimits(shared.limiter, route, request, reply, counted)
      if (limited && route.rate === 'sign_in') await limitSignIn(shared.limiter, request, reply)
    },
    preParsing: (request, _reply, payload, done) => {
      if (route.bodyKind !== 'stream' && hasBody(request)) arrivals.watch(request.raw, tenantOf(request))
      done(null, payload)
    },
    handler: async (request, reply) => {
      const sent = await handle(request, reply)
      answered(request, reply.statusCode)
      return sent
    },
    errorHandler: async (error, request, reply) => {
      const refusal = await refusalFor(request, isCutOff(request, error) ? cutOff() : toProblem(error))
      const answer = problemAnswer(refusal, request.id)
      // There are many of these at once, and logging them would be the heaviest load of all.
      if (refusal.code === 'overloaded') kernel.onOverloaded?.()
      // This is a choice of the operator, not a failure. The response names what is missing.
      else if (refusal.code === 'provider_not_configured' && refusal.cause === undefined)
        request.log.debug({ request_id: request.id, operation: route.operation }, refusal.message)
      else if (answer.status >= 500) {
        request.log.error(
          { err: refusal.cause ?? error, request_id: request.id, operation: route.operation },
          refusal.message,
        )
      }
      answered(request, answer.status)
      return sendAnswer(reply, answer)
    },
  })
}
