import { type FastifyInstance, fastify } from 'fastify'
import type { NodeDescriptor } from '#model/node'
import { SECOND } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/pool.ts'
import { DatabaseUnresponsive } from '../db/unavailable.ts'
import { problem } from '../errors.ts'
import type { Logger } from '../log.ts'
import { problemAnswer, sendAnswer } from './answer.ts'
import { type Document, makeDocument, sendDocument } from './document.ts'
import type { Metrics } from './metrics.ts'
import { mayReadMetrics } from './metrics-access.ts'
import { makeOpenApi } from './openapi/document.ts'
import type { AnyRoute } from './route.ts'

export type SystemRouteOptions = {
  config: Pick<Config, 'HEDDLE_METRICS_TOKEN'>
  routes: AnyRoute[]
  nodes: ReadonlyMap<string, NodeDescriptor>
  db: Database
  metrics: Metrics
  log: Logger
  /** Checks whether the engine of this process is working. */
  engineReady(): boolean
  /** Checks whether the process is about to stop. */
  isLeaving(): boolean
}

const READY_WITHIN = 4 * SECOND

/** Rejects if the answer is late, because a supervisor gives up after a few seconds. */
function answersInTime(answer: Promise<unknown>): Promise<unknown> {
  answer.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnresponsive('the database does not answer')), READY_WITHIN)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

/** Adds the addresses for machines and new users: health, metrics, the OpenAPI document and its browsable form. */
export function addSystemRoutes(app: FastifyInstance, options: SystemRouteOptions): void {
  let openApi: Document | undefined
  app.get('/openapi.json', (request, reply) => {
    openApi ??= makeDocument(
      'application/json; charset=utf-8',
      JSON.stringify(makeOpenApi(options.routes, options.nodes.values())),
    )
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag', ...REVALIDATED })
    return sendDocument(request, reply, openApi)
  })

  app.get('/healthz', (_request, reply) => reply.type('application/json').send('{"status":"ok"}'))

  app.get('/readyz', async (request, reply) => {
    try {
      if (options.isLeaving()) throw new Error('the process is about to stop')
      await answersInTime(options.db.appPool.query('select 1'))
      if (!options.engineReady()) throw new Error('the engine is not running')
      return await reply.type('application/json').send('{"status":"ready"}')
    } catch (error) {
      options.log.warn({ err: error }, 'not ready')
      return sendAnswer(
        reply,
        problemAnswer(
          problem(
            'unavailable',
            options.isLeaving() ? 'This process is about to stop.' : 'The database or the engine does not answer.',
            { retryAfterS: 1 },
          ),
          request.id,
        ),
      )
    }
  })

  app.get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(options.config.HEDDLE_METRICS_TOKEN, request))
      return sendAnswer(
        reply,
        problemAnswer(
          problem(
            'unauthenticated',
            'Send the request from the machine itself, or with the token of HEDDLE_METRICS_TOKEN.',
          ),
          request.id,
        ),
      )
    return reply.type(options.metrics.registry.contentType).send(await options.metrics.text())
  })

  addReference(app)
}

/** Clients must revalidate their copy, because an upgrade changes it. */
const REVALIDATED = { 'cache-control': 'no-cache' }

/** The reference builds its styles at run time. It shows no tenant data. */
const referencePolicy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'"

async function loadReference(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const inner = fastify()
  await inner.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      title: 'Heddle API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
    } as never,
  })
  return inner
}

/**
 * Adds the browsable reference. The responses of the package are computed once and kept. The package is loaded at the
 * first request, because it takes 16 MB.
 */
function addReference(app: FastifyInstance): void {
  let loading: Promise<FastifyInstance> | undefined
  const load = (): Promise<FastifyInstance> => {
    loading ??= loadReference().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 301))
  for (const path of ['/docs/', '/docs/js/scalar.js']) {
    let kept: Document | undefined
    app.get(path, async (request, reply) => {
      if (kept === undefined) {
        const { headers, rawPayload } = await (await load()).inject(path)
        kept = makeDocument(String(headers['content-type']), rawPayload)
      }
      reply.headers({ 'content-security-policy': referencePolicy, ...REVALIDATED })
      return sendDocument(request, reply, kept)
    })
  }
}
