import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTraceparent, writeTraceparent } from '#model/traceparent'
import type { Tx } from '../db/pool.ts'
import { problem } from '../errors.ts'
import { type Context, makeContext } from './context.ts'
import { keyOwnerOf, type Replay, replayOf } from './idempotency.ts'
import type { Kernel } from './kernel-parts.ts'
import type { ChosenResponse } from './render.ts'
import type { AnyRoute } from './route.ts'

// The information that a verb gets about its request.

export function contextOf(
  kernel: Kernel,
  request: FastifyRequest,
  tx: Tx | null,
  chosen: ChosenResponse,
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
    awaitCommit: () => request.turn?.awaitCommit(),
    status: (code) => {
      chosen.status = code
    },
    header: (name, value) => {
      chosen.headers[name.toLowerCase()] = value
    },
    afterCommit: (work) => afterCommit.push(work),
  })
}

/** Creates the signal only for verbs that use it. */
export function makeDisconnectSignal(reply: FastifyReply): () => AbortSignal {
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

/**
 * Returns the key under which the response is stored, if the caller sent an idempotency key and the route stores
 * responses.
 */
export function replayFor(route: AnyRoute, request: FastifyRequest): Replay | undefined {
  const key = idempotencyKeyOf(request)
  const { idempotency: kept } = route
  if (key === null || route.method !== 'POST' || kept === 'own' || kept === 'none' || route.bodyKind === 'stream')
    return undefined
  const { credential, person, workspace } = request.identity!
  const within = kept === 'anywhere' ? null : (workspace?.workspace_id ?? null)
  return replayOf({
    holder: keyOwnerOf(credential, person?.user_id ?? null, within),
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
  // Visitors without a visitor token differ from others on the same page only by the key.
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

/** Returns the first language of the header, without its region. */
const languageOf = ({ headers }: FastifyRequest): string | null =>
  /^\s*([a-z]{2,3})\b/i.exec(headers['accept-language'] ?? '')?.[1]?.toLowerCase() ?? null
