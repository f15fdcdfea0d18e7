import type { IncomingHttpHeaders } from 'node:http'
import cookie from '@fastify/cookie'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, fastify, LogController } from 'fastify'
import { newId } from '../ids.ts'
import type { Turn } from './admission.ts'
import { problemAnswer, sendAnswer, toProblem } from './answer.ts'
import { addCompression } from './compression.ts'
import type { Identity } from './context.ts'
import { readBeforeClosing } from './idle-connections.ts'
import type { Kernel } from './kernel-parts.ts'
import { prepareListeners } from './listen.ts'
import { refuseAddress, refuseMalformed } from './malformed.ts'
import { secureHeaders, transportHeaders } from './security.ts'
import { sendUnknownRoute, trackMethods } from './unknown-routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
    rawBody: Buffer
    startedAt: number
    /** The place of the request among the requests at work. */
    turn: Turn | null
    /** Path parameters with their ids as uuids. */
    parameters: Record<string, string> | null
  }
}

const EMPTY = Buffer.alloc(0)

/**
 * Removes the content type of an absent body, and replaces an invalid type by that of arbitrary bytes. The framework
 * would refuse it before it is known whether there is a body.
 */
function settleContentType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type']
  if (type === undefined) return
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0')
    delete headers['content-type']
  else if (!/^\s*[^\s/;]+\/[^\s/;]+/.test(type)) headers['content-type'] = 'application/octet-stream'
}

/** Routes use their own schemas. Loading the framework's JSON Schema support took a thirtieth of the start time. */
const noSchemas = (): never => {
  throw new Error('a route has a schema of the framework')
}

export function makeHttp(kernel: Kernel): FastifyInstance {
  const app = fastify({
    loggerInstance: kernel.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: kernel.config.HEDDLE_TRUSTED_PROXIES.length > 0 ? kernel.config.HEDDLE_TRUSTED_PROXIES : false,
    bodyLimit: kernel.config.HEDDLE_MAX_JSON_BYTES,
    // Log lines name their request themselves, so that no logger is created for the many requests that log nothing.
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : newId()
    },
    routerOptions: { maxParamLength: 2000, ignoreTrailingSlash: false },
    // Requests that still arrive are answered normally. The framework's own 503 would not say when to retry.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseAddress,
  })
  prepareListeners(app)
  readBeforeClosing(app.server)
  trackMethods(app)
  app.decorateRequest('identity', null)
  app.decorateRequest('rawBody')
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('turn', null)
  app.decorateRequest('parameters', null)
  app.register(cookie)
  addCompression(app)
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    request.rawBody = EMPTY
    reply.headers(secureHeaders)
    reply.headers(transportHeaders(kernel.config, request))
    reply.header('x-request-id', request.id)
    settleContentType(request.headers)
    done()
  })
  app.removeAllContentTypeParsers()
  const readBuffer = (
    request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void,
  ): void => {
    request.rawBody = bytes
    done(null, undefined)
  }
  app.addContentTypeParser('*', { parseAs: 'buffer' }, readBuffer as never)
  app.addContentTypeParser(/^.*/, { parseAs: 'buffer' }, readBuffer as never)
  app.setErrorHandler((error, request, reply) => {
    const refusal = toProblem(error)
    if (refusal.code === 'internal') request.log.error({ err: error, request_id: request.id }, 'a request failed')
    return sendAnswer(reply, problemAnswer(refusal, request.id))
  })
  app.setNotFoundHandler((request, reply) => sendUnknownRoute(app, request, reply))
  return app
}
