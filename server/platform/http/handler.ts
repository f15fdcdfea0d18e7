import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkAccess } from '../access/check.ts'
import { isOvertaken, type Tx } from '../db/pool.ts'
import { isProblem, readOnly } from '../errors.ts'
import { LARGE_BYTES, slices } from '../slices.ts'
import { type Answer, matchingTag, sendAnswer, sendUnchanged } from './answer.ts'
import { auditCall, isAudited } from './auditing.ts'
import { identify } from './caller.ts'
import { type Context, scopeOf } from './context.ts'
import { bindCursor, listOf } from './cursor.ts'
import type { Idempotency } from './idempotency.ts'
import { fieldsOf, type ReadInput, readInput } from './input.ts'
import type { Kernel } from './kernel-parts.ts'
import type { LargeAnswers } from './large-answers.ts'
import { parametersOf } from './parameters.ts'
import { changed, checkCurrent } from './precondition.ts'
import { type ChosenResponse, render } from './render.ts'
import { contextOf, makeDisconnectSignal, replayFor } from './request-context.ts'
import { type AnyRoute, isOneTransaction } from './route.ts'
import { type Encode, lazyEncoder } from './schema.ts'
import { makeEventStream, type OpenStream, wantsStream } from './stream.ts'

type Params = Record<string, string>

const ignored = (): void => {}

/** Handles a request of one route in this order: access, repetition, input, precondition, verb, response. */
export function makeHandler(
  route: AnyRoute,
  kernel: Kernel,
  { idempotency, largeAnswers }: { idempotency: Idempotency; largeAnswers: LargeAnswers },
  { encodeCurrent, tagged }: { encodeCurrent: Encode | undefined; tagged: boolean },
) {
  const encode = route.answer && lazyEncoder(route.answer)
  const rendering = { encode, tagged, check: kernel.checkAnswers }
  const audited = isAudited(route)
  const isRead = route.method === 'GET'
  const changes = route.method !== 'GET' && route.method !== 'POST'
  const fields = lookedAt(route)

  async function perform(
    ctx: Context,
    request: FastifyRequest,
    reply: FastifyReply,
    params: Params,
    chosen: ChosenResponse,
    {
      ahead,
      stream,
      read = () => inputFrom(request, params),
    }: { ahead?: Promise<unknown> | undefined; stream?: OpenStream | undefined; read?: (() => ReadInput) | undefined },
  ): Promise<Answer | null> {
    const input = await inputOf(ctx, request, reply, params, read)
    if (route.current) await checkCurrent(route, encodeCurrent, ctx, { request, params, echoed: input.echoed })
    else if (input.echoed.length > 0) throw readOnly(input.echoed.map(([field]) => field))
    // A resource that is never returned alone has no ETag that If-Match could name.
    else if (changes && (request.headers['if-match'] ?? '*') !== '*') throw changed()
    // The reader of an export has the data before our transaction ends, so the audit entry is written first, in its own
    // transaction.
    if (audited && isRead) await auditCall(ctx, route, request, input.value, null, { ahead: true })
    const result = await route.run(ctx, input.value as never, { request, reply, ahead, stream })
    const isSent = stream?.isOpen() ? false : reply.sent || reply.raw.headersSent || route.produces !== undefined
    const answer = isSent
      ? null
      : render(
          route,
          rendering,
          fields().isList ? bound(route, result, request, params) : result,
          chosen,
          request.url.split('?', 1)[0]!,
        )
    if (audited && !isRead) await auditCall(ctx, route, request, input.value, answer)
    return answer
  }

  const inputFrom = (request: FastifyRequest, params: Params): ReadInput =>
    readInput(route, request, kernel.config, params, fields().serverOwned)

  /** Errors about permissions and missing resources come before errors about the input. */
  async function inputOf(
    ctx: Context,
    request: FastifyRequest,
    reply: FastifyReply,
    params: Params,
    read: () => ReadInput,
  ): Promise<ReadInput> {
    try {
      return read()
    } catch (refusal) {
      await (route.allowed ?? route.current)?.(ctx, params as never, { request, reply })
      throw refusal
    }
  }

  return async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    noteRead(request)
    const params = parametersOf(route.path, request)
    const afterCommit: (() => void)[] = []
    const chosen: ChosenResponse = { status: route.status ?? 200, headers: {} }
    const hungUp = makeDisconnectSignal(reply)
    const stream = route.streams && wantsStream(request) ? makeEventStream(request, reply, chosen.status) : undefined
    const contextWith = (tx: Tx | null): Context => contextOf(kernel, request, tx, chosen, afterCommit, hungUp)
    const check = (ctx: Context): Promise<void> => checkAccess(ctx, route.access, params, kernel.accessLevels)

    const inOneTransaction = (): Promise<Answer | null> =>
      kernel.db.tenant(scopeOf(contextWith(null)), async (tx) => {
        const ctx = contextWith(tx)
        const { stillHolds, ...identity } = request.identity!
        const holds = stillHolds?.(tx) ?? true
        const checking = check(ctx)
        const early = route.aheadWithInput && readAhead(() => inputFrom(request, params))
        const ahead = early
          ? early.value && route.aheadWithInput?.(ctx, early.value as never)
          : route.ahead?.(ctx, params as never)
        // Failures of these promises are not reported before the caller's identity is confirmed.
        checking.catch(ignored)
        ahead?.catch(ignored)
        if (!(await holds)) throw new Outdated()
        request.identity = identity
        await checking
        const replay = replayFor(route, request)
        const work = () => perform(ctx, request, reply, params, chosen, { ahead, stream, read: early?.read })
        return replay ? idempotency.once(tx, replay, async () => (await work())!) : work()
      })

    const checkAlone = (ctx: Context): Promise<void> =>
      route.access.word === 'role' ? kernel.db.tenant(scopeOf(ctx), (tx) => check(contextWith(tx))) : check(ctx)

    const inItsOwnTransactions = async (): Promise<Answer | null> => {
      const ctx = contextWith(null)
      await checkAlone(ctx)
      const replay = replayFor(route, request)
      const work = () => perform(ctx, request, reply, params, chosen, { stream })
      if (replay && stream) return idempotency.onceWatched(kernel.db, replay, async () => (await work())!)
      return replay ? idempotency.onceOutside(kernel.db, replay, async () => (await work())!, hungUp()) : work()
    }

    const again = async (error: unknown): Promise<void> => {
      afterCommit.length = 0
      if (error instanceof Outdated || isOvertaken(error))
        request.identity = await identify(kernel, route, request, { afresh: true })
    }
    /** A verb with its own transactions cannot be repeated, but the caller may have lost access in the meantime. */
    const explain = async (error: unknown): Promise<never> => {
      if (!isProblem(error) && isOvertaken(error)) await again(error).then(() => checkAlone(contextWith(null)))
      throw error
    }
    const tenant = tenantOf(request)
    if (request.rawBody.length > LARGE_BYTES) await slices.next(tenant)
    const whole = (): Promise<Answer | null> =>
      isOneTransaction(route)
        ? retrying(inOneTransaction, again, isOvertaken)
        : retrying(inItsOwnTransactions, again, () => false).catch(explain)
    const performed = isRead && isOneTransaction(route) ? largeAnswers(tenant, route.operation, whole) : whole()
    const answer = await performed.catch((error: unknown) => {
      if (!stream?.isOpen()) throw error
      stream.fail(error, request.id)
      return null
    })
    for (const work of afterCommit) work()
    if (answer === null) return reply
    noteSize(request, answer.body)
    if (stream) {
      stream.end(answer)
      return reply
    }
    const { etag } = answer.headers
    const known = isRead && etag !== undefined ? matchingTag(request.headers['if-none-match'], etag) : undefined
    if (known !== undefined) return sendUnchanged(reply, known)
    return sendAnswer(reply, answer)
  }
}

/** Reads the input now. An error in the input is thrown only when `read` of the result is called. */
function readAhead(read: () => ReadInput): { value?: ReadInput['value']; read(): ReadInput } {
  try {
    const input = read()
    return { value: input.value, read: () => input }
  } catch (refusal) {
    return {
      read: () => {
        throw refusal
      },
    }
  }
}

type Fields = { isList: boolean; serverOwned: ReadonlySet<string> }

/** Computes the fields at the first request of a route. */
function lookedAt(route: AnyRoute): () => Fields {
  let fields: Fields | undefined
  return () => {
    if (fields) return fields
    const own = fieldsOf(route.body)
    fields = {
      isList: fieldsOf(route.query).has('cursor'),
      serverOwned: new Set([...fieldsOf(route.answer)].filter((field) => !own.has(field))),
    }
    return fields
  }
}

function noteRead(request: FastifyRequest): void {
  if (request.turn) request.turn.isRead = true
  noteSize(request, request.rawBody)
}

function noteSize({ turn }: FastifyRequest, bytes: Buffer | null): void {
  if (turn && bytes !== null && bytes.length > LARGE_BYTES) turn.isLarge = true
}

/** Returns the key by which requests take turns. */
export function tenantOf({ identity, ip }: FastifyRequest): string {
  return identity!.workspace?.workspace_id ?? identity!.person?.user_id ?? ip
}

/** Binds the cursor of the page to this list, so that no other list accepts it. */
function bound(route: AnyRoute, result: unknown, request: FastifyRequest, params: Params): unknown {
  const page = result as { next_cursor?: string | null }
  if (typeof page.next_cursor !== 'string') return page
  return { ...page, next_cursor: bindCursor(listOf(route.operation, params, request), page.next_cursor) }
}

/** The remembered identity of the caller is no longer valid. */
class Outdated extends Error {}

/**
 * Repeats work that failed because of other transactions. `passesToo` names more such failures. After a row was deleted,
 * the repetition finds that out where it checks what the caller may see, and refuses the request with the right status.
 */
async function retrying<T>(
  work: () => Promise<T>,
  beforeRetry: (error: unknown) => Promise<void>,
  passesToo: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const { code } = error as { code?: string }
      const isOfOthers = code === '40P01' || code === '40001' || passesToo(error)
      const passes = error instanceof Outdated || (!isProblem(error) && isOfOthers)
      if (!passes || attempt === 3) throw error
      await beforeRetry(error)
    }
  }
}
