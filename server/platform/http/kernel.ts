import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isProblem, type Problem, statusOf } from '../errors.ts'
import { type Admission, makeAdmission } from './admission.ts'
import { problemAnswer, sendAnswer, toProblem } from './answer.ts'
import { credentialOf, identify } from './caller.ts'
import { checkDeprecations, deprecationHeaders } from './deprecation.ts'
import { type Door, guardDoor, type Known } from './door.ts'
import { makeHandler } from './handler.ts'
import { type Idempotency, makeIdempotency } from './idempotency.ts'
import type { Kernel } from './kernel-parts.ts'
import { type LargeAnswers, makeLargeAnswers } from './large-answers.ts'
import { makeRateLimiter, type RateLimiter, type Verdict } from './limits.ts'
import { makePatience } from './patience.ts'
import { isResource } from './render.ts'
import type { AnyRoute } from './route.ts'
import { type Encode, lazyEncoder } from './schema.ts'
import { shareSpending } from './shared-limits.ts'
import { applyLimits, callerAddress, countKnown, countRefused, holdSignIn } from './throttle.ts'

/** Adds the routes of every area. */
export function addRoutes(app: FastifyInstance, routes: AnyRoute[], kernel: Kernel): void {
  checkDeprecations(routes)
  const limiter = makeRateLimiter()
  if (kernel.peers) shareSpending(limiter, kernel.peers)
  const patience = makePatience()
  const admission = makeAdmission(kernel.config.HEDDLE_MAX_AT_WORK, patience)
  kernel.onAdmission?.(admission.figures)
  const { config, onOverloaded } = kernel
  const shared = {
    idempotency: makeIdempotency(kernel.vault),
    largeAnswers: makeLargeAnswers(),
    limiter,
    admission,
    door: guardDoor(app.server, { config, admission, limiter, patience, onOverloaded }),
    encoders: encodersOf(routes),
    resources: new Set(routes.filter(isResource).map(({ answer }) => answer)),
  }
  for (const route of routes) if (route.bodyKind !== 'stream') addRoute(app, route, kernel, shared)
  // Streams are taken as they come, by the route itself.
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
  door: Door
  encoders: Map<unknown, Encode>
  /** Schemas of what can be read alone. */
  resources: Set<unknown>
}

/**
 * How the value of each `current` is written, found where the same verb answers a GET or a PATCH: a DELETE has no answer of
 * its own, and its If-Match must mean the ETag that the others gave.
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

const MAX_DOCUMENT_BODY = 32 << 20

function bodyLimitOf(route: AnyRoute, config: Config): number {
  switch (route.bodyLimit) {
    case 'dataset':
      return config.HEDDLE_MAX_DATASET_BYTES
    case 'document':
      // As text inside of JSON it is a little longer than it is.
      return MAX_DOCUMENT_BODY
    case 'import':
      return config.HEDDLE_MAX_IMPORT_BYTES
    case 'audio':
      // What stands around a clip in a form; the clip itself is measured by the code that reads it.
      return config.HEDDLE_MAX_AUDIO_BYTES + (64 << 10)
    case 'file':
      // Likewise: the file itself is measured as it comes.
      return config.HEDDLE_MAX_FILE_BYTES + (1 << 20)
    case undefined:
      return config.HEDDLE_MAX_JSON_BYTES
  }
}

function addRoute(app: FastifyInstance, route: AnyRoute, kernel: Kernel, shared: Shared): void {
  const handle = makeHandler(route, kernel, shared, {
    encodeCurrent: shared.encoders.get(route.current),
    tagged: route.answer !== undefined && shared.resources.has(route.answer),
  })
  const deprecation = deprecationHeaders(route)
  const answered = (request: FastifyRequest, status: number): void => {
    request.turn?.leave()
    kernel.onAnswered?.(route, status, (performance.now() - request.startedAt) / 1000)
  }
  /** A body that cannot be read is no answer for somebody who is only remembered: 401 comes first. */
  const refusalFor = async (request: FastifyRequest, refusal: Problem): Promise<Problem> => {
    if (request.identity?.stillHolds === undefined || statusOf(refusal.code) >= 500) return refusal
    return identify(kernel, route, request, { afresh: true }).then(() => refusal, toProblem)
  }

  app.route({
    // As one route: the framework would make another one of it for HEAD. The body of an answer to HEAD is left out by Node.js.
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path,
    bodyLimit: bodyLimitOf(route, kernel.config),
    onRequest: async (request, reply) => {
      reply.headers(deprecation)
      const limited = kernel.config.HEDDLE_RATE_LIMITS === 'on'
      const credential = credentialOf(request)
      const known = (): Known | undefined => (credential === undefined ? undefined : shared.door.callerOf(credential))
      const count = (): Verdict | undefined => {
        const limitKey = limited ? known()?.limitKey : undefined
        return limitKey === undefined ? undefined : countKnown(shared.limiter, limitKey, reply)
      }
      const early = count()
      // Requests are lined up by tenant before anything is read.
      const turn = shared.admission.enter(known()?.tenant ?? callerAddress(request.ip))
      request.turn = turn instanceof Promise ? await turn : turn
      // Another request with the credential may have been identified meanwhile.
      const counted = early ?? count()
      request.identity = await identify(kernel, route, request).catch((error: unknown) => {
        if (limited && isProblem(error)) countRefused(shared.limiter, request, reply)
        throw error
      })
      if (credential !== undefined) shared.door.know(credential, request.identity)
      if (limited) applyLimits(shared.limiter, route, request, reply, counted)
      if (limited && route.rate === 'sign_in') await holdSignIn(shared.limiter, request, reply)
    },
    handler: async (request, reply) => {
      const sent = await handle(request, reply)
      answered(request, reply.statusCode)
      return sent
    },
    errorHandler: async (error, request, reply) => {
      const refusal = await refusalFor(request, toProblem(error))
      const answer = problemAnswer(refusal, request.id)
      // Many at once: lines about them would be the heaviest load of all.
      if (refusal.code === 'overloaded') kernel.onOverloaded?.()
      // A choice of the operator, not a failure: the answer says what is missing.
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
