import { createHash } from 'node:crypto'
import cookie from '@fastify/cookie'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { z } from 'zod'
import { checkAccess, type Standings } from '../access/check.ts'
import type { TokenScope } from '../access/words.ts'
import { type Identifier, SESSION_COOKIE } from '../auth/identify.ts'
import type { Config } from '../config.ts'
import type { Database, Tx } from '../db/pool.ts'
import { invalid, isProblem, problem, readOnly } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import type { Vault } from '../secrets.ts'
import { type Answer, etagOf, problemAnswer, sendAnswer, toProblem } from './answer.ts'
import { parseJson } from './body.ts'
import { type Context, type Identity, makeContext, scopeOf } from './context.ts'
import { type Idempotency, makeIdempotency, replayOf } from './idempotency.ts'
import { limits, makeRateLimiter, type RateLimiter } from './limits.ts'
import { parseParameters } from './parameters.ts'
import type { AnyRoute } from './route.ts'
import { compileEncoder, type Encode } from './schema.ts'
import { secureHeaders } from './security.ts'

/** Turns a bearer token of a webhook or a widget into an identity. Each area registers its own. */
export type TokenIdentifier = (request: FastifyRequest, params: Record<string, string>) => Promise<Identity>

export type Kernel = {
  config: Config
  db: Database
  log: Logger
  vault: Vault
  identifier: Identifier
  standings: Standings
  tokens: Partial<Record<TokenScope, TokenIdentifier>>
  /** Where people reach the service; known once it listens. */
  baseUrl(): string
  /** Checks every answer against its schema: on in tests, so that the OpenAPI document cannot lie. */
  checkAnswers: boolean
  onAnswered?(route: AnyRoute, status: number, seconds: number): void
}

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null
    rawBody: Buffer
    startedAt: number
  }
}

const EMPTY = Buffer.alloc(0)
const unsafe = (method: string): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

export function makeHttp(kernel: Kernel): FastifyInstance {
  const app = fastify({
    loggerInstance: kernel.log as FastifyBaseLogger,
    disableRequestLogging: true,
    trustProxy: kernel.config.HEDDLE_TRUSTED_PROXIES.length > 0 ? kernel.config.HEDDLE_TRUSTED_PROXIES : false,
    bodyLimit: kernel.config.HEDDLE_MAX_JSON_BYTES,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : newId()
    },
    routerOptions: { maxParamLength: 2000, ignoreTrailingSlash: false },
    return503OnClosing: true,
    forceCloseConnections: 'idle',
  })
  app.decorateRequest('identity', null)
  app.decorateRequest('rawBody')
  app.decorateRequest('startedAt', 0)
  app.register(cookie)
  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = performance.now()
    request.rawBody = EMPTY
    reply.headers(secureHeaders)
    reply.header('x-request-id', request.id)
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
  app.setNotFoundHandler((request, reply) =>
    sendAnswer(reply, problemAnswer(problem('route_not_found', 'Look the address up in /openapi.json.'), request.id)),
  )
  return app
}

/** Adds the routes of every area. */
export function addRoutes(app: FastifyInstance, routes: AnyRoute[], kernel: Kernel): void {
  const idempotency = makeIdempotency(kernel.vault)
  const limiter = makeRateLimiter()
  for (const route of routes) if (route.bodyKind !== 'stream') addRoute(app, route, kernel, idempotency, limiter)
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
    for (const route of routes) if (route.bodyKind === 'stream') addRoute(scope, route, kernel, idempotency, limiter)
  })
}

function bodyLimitOf(route: AnyRoute, config: Config): number {
  switch (route.bodyLimit) {
    case 'dataset':
      return config.HEDDLE_MAX_DATASET_BYTES
    case 'import':
      return config.HEDDLE_MAX_IMPORT_BYTES
    case 'audio':
      return config.HEDDLE_MAX_AUDIO_BYTES
    case undefined:
      return config.HEDDLE_MAX_JSON_BYTES
  }
}

function addRoute(
  app: FastifyInstance,
  route: AnyRoute,
  kernel: Kernel,
  idempotency: Idempotency,
  limiter: RateLimiter,
): void {
  const encode = route.answer && compileEncoder(route.answer)
  const bodyFields = fieldsOf(route.body)
  const serverOwned = new Set([...fieldsOf(route.answer)].filter((field) => !bodyFields.has(field)))

  app.route({
    method: route.method,
    url: route.path,
    bodyLimit: bodyLimitOf(route, kernel.config),
    onRequest: async (request, reply) => {
      request.identity = await identify(kernel, route, request)
      if (kernel.config.HEDDLE_RATE_LIMITS === 'on') applyLimits(limiter, route, request, reply)
    },
    handler: async (request, reply) => {
      const answer = await handle(request, reply)
      kernel.onAnswered?.(route, reply.statusCode, (performance.now() - request.startedAt) / 1000)
      return answer
    },
    errorHandler: (error, request, reply) => {
      const refusal = toProblem(error)
      const answer = problemAnswer(refusal, request.id)
      if (answer.status >= 500)
        request.log.error(
          { err: refusal.cause ?? error, request_id: request.id, operation: route.operation },
          refusal.message,
        )
      kernel.onAnswered?.(route, answer.status, (performance.now() - request.startedAt) / 1000)
      return sendAnswer(reply, answer)
    },
  })

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const params = parseParameters(route.path, request.params as Record<string, string>)
    const afterCommit: (() => void)[] = []
    const chosen: { status: number; headers: Record<string, string> } = { status: route.status ?? 200, headers: {} }
    const aborted = new AbortController()
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) aborted.abort()
    })
    const contextWith = (tx: Tx | null): Context => contextOf(kernel, request, tx, chosen, afterCommit, aborted.signal)

    const perform = async (ctx: Context): Promise<Answer | null> => {
      const input = readInput(route, request, kernel, params)
      if (route.current) await checkCurrent(ctx, route, request, params, input.echoed)
      else if (input.echoed.length > 0) throw readOnly(input.echoed.map(([field]) => field))
      const result = await route.run(ctx, input.value as never, { request, reply })
      if (reply.sent || reply.raw.headersSent || route.produces) return null
      return render(route, encode, result, chosen, kernel.checkAnswers)
    }

    const replay = replayFor(route, request)
    const once = async (): Promise<Answer | null> => {
      if (route.transaction === false) {
        const ctx = contextWith(null)
        if (route.access.word === 'role')
          await kernel.db.tenant(scopeOf(ctx), (tx) =>
            checkAccess(contextWith(tx), route.access, params, kernel.standings),
          )
        else await checkAccess(ctx, route.access, params, kernel.standings)
        return replay ? idempotency.onceOutside(kernel.db, replay, async () => (await perform(ctx))!) : perform(ctx)
      }
      return kernel.db.tenant(scopeOf(contextWith(null)), async (tx) => {
        const ctx = contextWith(tx)
        await checkAccess(ctx, route.access, params, kernel.standings)
        return replay ? idempotency.once(tx, replay, async () => (await perform(ctx))!) : perform(ctx)
      })
    }

    const answer = await retryingDeadlocks(once, () => {
      afterCommit.length = 0
    })
    for (const work of afterCommit) work()
    if (answer === null) return reply
    if (
      route.method === 'GET' &&
      answer.headers.etag !== undefined &&
      request.headers['if-none-match'] === answer.headers.etag
    ) {
      return reply.code(304).header('etag', answer.headers.etag).send()
    }
    return sendAnswer(reply, answer)
  }

  function replayFor(of: AnyRoute, request: FastifyRequest) {
    const key = request.headers['idempotency-key']
    if (key === undefined || of.method !== 'POST' || of.idempotency !== undefined || of.bodyKind === 'stream')
      return undefined
    if (typeof key !== 'string' || key.length === 0 || key.length > 255 || !/^[\x20-\x7e]+$/.test(key)) {
      throw problem('malformed', 'Idempotency-Key must be 1 to 255 printable ASCII characters.')
    }
    const { credential, person } = request.identity!
    return replayOf({
      credential,
      userId: person?.user_id ?? null,
      key,
      method: of.method,
      url: request.url,
      body: request.rawBody,
    })
  }

  function readInput(of: AnyRoute, request: FastifyRequest, { config }: Kernel, params: Record<string, string>) {
    const query = of.query ? parse(of.query, request.query) : checkNoQuery(request)
    if (of.bodyKind === 'stream' || of.method === 'GET') return { value: { ...query, ...params }, echoed: [] }
    if (of.bodyKind === 'any') return { value: { ...query, body: request.rawBody, ...params }, echoed: [] }
    if (
      request.rawBody.length > 0 &&
      !/^application\/([\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')
    ) {
      throw problem('unsupported_media_type', 'Send JSON with Content-Type: application/json.')
    }
    const body = parseJson(request.rawBody, config.HEDDLE_MAX_JSON_DEPTH)
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw invalid([{ path: '', message: 'must be a JSON object' }])
    const echoed = Object.entries(body).filter(([field]) => serverOwned.has(field))
    const settable =
      echoed.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([field]) => !serverOwned.has(field)))
    if (!of.body) {
      const [unknown] = Object.keys(settable)
      if (unknown !== undefined) throw invalid([{ path: `/${unknown}`, message: 'is not a known field' }])
      return { value: { ...query, ...params }, echoed }
    }
    return { value: { ...query, ...(parse(of.body, settable) as object), ...params }, echoed }
  }

  /** Serialises writers of one resource, so that what If-Match was compared with is what gets changed. */
  async function checkCurrent(
    ctx: Context,
    of: AnyRoute,
    request: FastifyRequest,
    params: Record<string, string>,
    echoed: [string, unknown][],
  ): Promise<void> {
    if (of.method !== 'GET' && of.transaction !== false) {
      const lock = createHash('sha1').update(Object.values(params).join('/')).digest()
      await ctx.tx.rows('select pg_advisory_xact_lock($1, $2)', [lock.readInt32BE(0), lock.readInt32BE(4)])
    }
    const ifMatch = request.headers['if-match']
    if (ifMatch === undefined && echoed.length === 0) return
    const encoded = toJson(encode, await of.current!(ctx, params as never))
    if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.split(/\s*,\s*/).includes(etagOf(encoded))) {
      throw problem('precondition_failed', 'Read the resource again and repeat the change on what it says now.')
    }
    const present = JSON.parse(encoded.toString()) as Record<string, unknown>
    const changed = echoed.filter(([field, value]) => JSON.stringify(present[field]) !== JSON.stringify(value))
    if (changed.length > 0) throw readOnly(changed.map(([field]) => field))
  }
}

function contextOf(
  kernel: Kernel,
  request: FastifyRequest,
  tx: Tx | null,
  chosen: { status: number; headers: Record<string, string> },
  afterCommit: (() => void)[],
  signal: AbortSignal,
): Context {
  const identity = request.identity!
  const key = request.headers['idempotency-key']
  return makeContext({
    requestId: request.id,
    config: kernel.config,
    org: identity.org,
    credential: identity.credential,
    maybePerson: identity.person,
    maybeWorkspace: identity.workspace,
    maybeTx: tx,
    db: kernel.db,
    log: request.log as never,
    address: request.ip,
    baseUrl: kernel.baseUrl(),
    idempotencyKey: typeof key === 'string' ? key : null,
    signal,
    status: (code) => {
      chosen.status = code
    },
    header: (name, value) => {
      chosen.headers[name.toLowerCase()] = value
    },
    afterCommit: (work) => afterCommit.push(work),
  })
}

async function identify(kernel: Kernel, route: AnyRoute, request: FastifyRequest): Promise<Identity> {
  if (route.access.word === 'token') {
    const find = kernel.tokens[route.access.scope]
    if (!find) throw new Error(`nothing identifies the tokens of a ${route.access.scope}`)
    return find(request, parseParameters(route.path, request.params as Record<string, string>))
  }
  const bearer = bearerOf(request)
  const session = request.cookies[SESSION_COOKIE]
  const workspaceHeader = request.headers['x-workspace-id']
  const identity = await kernel.identifier.identify({
    host: request.host,
    bearer,
    session,
    workspaceHeader: typeof workspaceHeader === 'string' ? workspaceHeader : undefined,
  })
  if (route.access.word !== 'anyone' && identity.person === null)
    throw problem('unauthenticated', 'Sign in, or send a valid API key.')
  if (identity.credential.kind === 'session' && unsafe(route.method)) refuseForeignOrigin(request)
  return identity
}

export function bearerOf(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization
  return header === undefined ? undefined : (/^Bearer +(\S+) *$/i.exec(header)?.[1] ?? '')
}

/** A cookie travels with requests of other sites; those are refused before anything is done. */
export function refuseForeignOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const foreign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== request.host.toLowerCase())
  if (foreign || site === 'cross-site')
    throw problem('foreign_origin', 'Call the service from its own pages, or use an API key.')
}

function applyLimits(limiter: RateLimiter, route: AnyRoute, request: FastifyRequest, reply: FastifyReply): void {
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

function render(
  route: AnyRoute,
  encode: Encode | undefined,
  result: unknown,
  chosen: { status: number; headers: Record<string, string> },
  check: boolean,
): Answer {
  if (!route.answer || chosen.status === 204)
    return { status: route.answer ? chosen.status : (route.status ?? 204), headers: chosen.headers, body: null }
  const encoded = encode ? encode(result) : result
  const body = Buffer.from(JSON.stringify(encoded))
  if (check) checkAnswer(route, body)
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...chosen.headers,
  }
  if (route.location && chosen.status === 201) headers.location = route.location(encoded as never)
  if (route.current || (route.method === 'GET' && !isPage(route))) headers.etag = etagOf(body)
  return { status: chosen.status, headers, body }
}

const toJson = (encode: Encode | undefined, value: unknown): Buffer =>
  Buffer.from(JSON.stringify(encode ? encode(value) : value))

const isPage = (route: AnyRoute): boolean => fieldsOf(route.answer).has('next_cursor')

function checkAnswer(route: AnyRoute, body: Buffer): void {
  const result = route.answer!.safeParse(JSON.parse(body.toString()))
  if (!result.success)
    throw new Error(`the answer of ${route.operation} is not what its schema says: ${result.error.message}`)
}

function fieldsOf(schema: z.ZodType | undefined): Set<string> {
  const shape = (schema as unknown as { shape?: Record<string, unknown> } | undefined)?.shape
  return new Set(shape ? Object.keys(shape) : [])
}

function checkNoQuery(request: FastifyRequest): Record<string, never> {
  const [unknown] = Object.keys(request.query as object)
  if (unknown !== undefined) throw invalid([{ path: `/${unknown}`, message: 'is not a known parameter' }])
  return {}
}

function parse(schema: z.ZodType, value: unknown): Record<string, unknown> {
  const result = schema.safeParse(value)
  if (result.success) return result.data as Record<string, unknown>
  throw invalid(
    result.error.issues.slice(0, 50).flatMap((issue) => {
      const at = issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((key) => ({ path: `${at}/${key}`, message: 'is not a known field' }))
      return [{ path: at, message: issue.message }]
    }),
  )
}

async function retryingDeadlocks<T>(work: () => Promise<T>, beforeRetry: () => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const { code } = error as { code?: string }
      if (isProblem(error) || (code !== '40P01' && code !== '40001') || attempt === 3) throw error
      beforeRetry()
    }
  }
}
