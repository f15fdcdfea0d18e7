import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTraceparent, writeTraceparent } from '#model/traceparent'
import type { Tx } from '../db/pool.ts'
import { problem } from '../errors.ts'
import { type Context, makeContext } from './context.ts'
import { holderOf, type Replay, replayOf } from './idempotency.ts'
import type { Kernel } from './kernel-parts.ts'
import type { Chosen } from './render.ts'
import type { AnyRoute } from './route.ts'

// What a verb is told about the request that it answers.

export function contextOf(
  kernel: Kernel,
  request: FastifyRequest,
  tx: Tx | null,
  chosen: Chosen,
  afterCommit: (() => void)[],
  hungUp: () => AbortSignal,
): Context {
  const identity = request.identity!
  return makeContext({
    requestId: request.id,
    config: kernel.config,
    org: identity.org,
    credential: identity.credential,
    maybePerson: identity.person,
    maybeWorkspace: identity.workspace,
    maybeTx: tx,
    db: kernel.db,
    log: kernel.log,
    address: request.ip,
    baseUrl: kernel.baseUrl(),
    idempotencyKey: idempotencyKeyOf(request),
    language: languageOf(request),
    traceparent: kernel.config.OTEL_EXPORTER_OTLP_ENDPOINT === null ? null : traceparentOf(request),
    hungUp,
    leavePlace: () => request.turn?.leave(),
    status: (code) => {
      chosen.status = code
    },
    header: (name, value) => {
      chosen.headers[name.toLowerCase()] = value
    },
    afterCommit: (work) => afterCommit.push(work),
  })
}

/** Made only for verbs that look at it. */
export function makeHungUp(reply: FastifyReply): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (controller) return controller.signal
    const made = new AbortController()
    controller = made
    const look = (): void => {
      if (!reply.raw.writableFinished) made.abort()
    }
    if (reply.raw.destroyed) look()
    else reply.raw.once('close', look)
    return made.signal
  }
}

/** What the answer is kept under, where the caller gave a key and the route keeps answers. */
export function replayFor(route: AnyRoute, request: FastifyRequest): Replay | undefined {
  const key = idempotencyKeyOf(request)
  const { idempotency: kept } = route
  if (key === null || route.method !== 'POST' || kept === 'own' || kept === 'none' || route.bodyKind === 'stream')
    return undefined
  const { credential, person, workspace } = request.identity!
  const within = kept === 'anywhere' ? null : (workspace?.workspace_id ?? null)
  return replayOf({
    holder: holderOf(credential, person?.user_id ?? null, within),
    key,
    method: route.method,
    url: request.url,
    body: request.rawBody,
  })
}

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key.length > 255 || !/^[\x20-\x7e]+$/.test(key)) {
    throw problem('malformed', 'Idempotency-Key must be 1 to 255 printable ASCII characters.')
  }
  const { credential } = request.identity!
  // Anyone who has no visitor token yet is told from the others of the same page by the key alone.
  if (credential.kind === 'embed' && credential.visitor_id === null && key.length < MIN_ANONYMOUS_KEY_LENGTH)
    return null
  return key
}

/** Shorter keys of anonymous visitors can be guessed. */
const MIN_ANONYMOUS_KEY_LENGTH = 16

function traceparentOf({ headers }: FastifyRequest): string | null {
  const found = readTraceparent(headers.traceparent)
  return found ? writeTraceparent(found) : null
}

/** The first that is named, without its region. */
const languageOf = ({ headers }: FastifyRequest): string | null =>
  /^\s*([a-z]{2,3})\b/i.exec(headers['accept-language'] ?? '')?.[1]?.toLowerCase() ?? null
