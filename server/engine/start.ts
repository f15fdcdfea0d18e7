import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { isConnectionLost } from '#platform/db/unavailable'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { type Asked, gateOf } from './flow/gate.ts'
import { initiatorsOf } from './initiators.ts'
import { emptyState, type GraphState } from './interpreter/state.ts'
import type { StartRow } from './journal/batch.ts'
import { withoutBlobs } from './journal/encode.ts'
import { Fenced, Full, Refused, Unknown, Unsent } from './journal/failures.ts'
import type { StartQueue } from './journal/queue.ts'
import type { Engine, Start, Started } from './ports.ts'
import { hasBadText } from './text.ts'
import type { Store } from './worker/store.ts'
import type { Worker } from './worker/worker.ts'

export type InnerStart = Start & {
  parent?: { executionId: string; node: string } | null
  depth?: number
  retryOf?: string | null
  snapshot?: GraphState
  /** The variables of the parent or of the retried execution. */
  vars?: JsonObject | undefined
}

export type QueueLimits = {
  /** The maximum number of executions of one workspace that rules of their workflows keep waiting. */
  gatedPerWorkspace: number
  /** The maximum number of queued executions of one workspace. */
  perWorkspace: number
  /** The maximum number of appends of this process that wait for the database. */
  journal: number
}

export const defaultQueueLimits: QueueLimits = { perWorkspace: 50_000, gatedPerWorkspace: 200_000, journal: 5_000 }

/**
 * How long a caller waits for its start to be durable. Longer than a database server needs to restart after a crash.
 */
const PATIENCE = 5 * SECOND
/** Starts are refused if the database has not answered for this long. */
const STALLED = 3 * SECOND
const DEPTH_FOR = SECOND / 4

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const noAnswer = (cause?: unknown) =>
  problem('unavailable', 'The database does not answer. Try again in a moment.', { retryAfterS: 1, cause })

export const askedOf = (start: Omit<InnerStart, 'executionId' | 'idempotency'>, workflowId: string): Asked => ({
  workflowId,
  input: start.input,
  trigger: start.trigger,
  startedBy: start.startedBy,
  concurrencyKey: start.concurrencyKey,
  isRetry: start.retryOf != null,
})

const rowOf = (start: InnerStart, bytes: number): StartRow => ({
  bytes,
  definitionRef: start.definitionRef,
  workflowId: start.workflowId,
  versionId: start.versionId,
  systemSlug: start.systemSlug ?? null,
  timeoutS: start.timeoutS ?? null,
  input: start.input,
  trigger: start.trigger,
  startedBy: start.startedBy,
  principalId: start.principalId ?? null,
  initiatedBy: initiatorsOf(start),
  retryOf: start.retryOf ?? null,
  parent: start.parent ?? null,
  depth: start.depth ?? 0,
  tellEnd: start.tellEnd ?? false,
  ...((start.snapshot || start.vars) && {
    snapshot: { ...(start.snapshot ?? emptyState()), ...(start.vars && { vars: start.vars }) },
  }),
  ...(start.idempotency && { key: start.idempotency }),
  labels: start.labels,
  startAt: start.startAt?.getTime(),
  startInS: start.startInS,
  gate: start.flow && start.workflowId !== null ? gateOf(start.flow, askedOf(start, start.workflowId)) : undefined,
})

/** Rejects after `ms`. The outcome of such a start can only be found by its idempotency key. */
const within = <T>(promise: Promise<T>, ms: number): Promise<T> => {
  if (ms === Number.POSITIVE_INFINITY) return promise
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer()), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * Starts executions. This process owns the execution immediately if it has room; otherwise the execution is queued.
 * It is durable in both cases.
 */
export const makeStarter = (deps: {
  worker: Worker | undefined
  store: Store
  queue: StartQueue
  limits: QueueLimits
  decideSoon(workspaceId: string, workflowId: string): void
}) => {
  const { worker, store, queue, limits } = deps
  const depths = new Map<string, { depth: Promise<number>; added: number; readAt: number }>()

  /** Reads the depth once for callers that arrive together. */
  const depthOf = (workspaceId: string, isGated: boolean) => {
    const key = isGated ? `gated ${workspaceId}` : workspaceId
    const now = performance.now()
    const known = depths.get(key)
    if (known && now - known.readAt < DEPTH_FOR) return known
    if (depths.size > 10_000) depths.clear()
    const depth = isGated
      ? store.gateDepth(workspaceId, limits.gatedPerWorkspace)
      : store.queueDepth(workspaceId, limits.perWorkspace)
    depth.catch(() => depths.delete(key))
    const read = { depth, added: 0, readAt: now }
    depths.set(key, read)
    return read
  }

  const refuseWhenFull = async (workspaceId: string, isGated: boolean): Promise<void> => {
    const known = depthOf(workspaceId, isGated)
    if ((await known.depth) + known.added >= (isGated ? limits.gatedPerWorkspace : limits.perWorkspace)) {
      throw problem('queue_full', 'Too many executions of this workspace are queued. Try again when some have ended.', {
        retryAfterS: 5,
      })
    }
    known.added += 1
  }

  const startedBefore: Engine['startedBefore'] = async (workspaceId, { credentialHash, keyHash, bodySha256 }) => {
    const holder = await store.keyHolder(credentialHash, keyHash)
    if (!holder) return undefined
    if (!holder.body_sha256.equals(bodySha256) || holder.workspace_id !== workspaceId) {
      throw problem('idempotency_key_reused', 'Use a new Idempotency-Key for a new request.')
    }
    const status = (holder.status ?? 'succeeded') as Started['status']
    return { executionId: holder.execution_id, status, replayed: true }
  }

  const alreadyStarted = async (start: InnerStart, executionId: string): Promise<Started> => {
    const before = start.idempotency && (await startedBefore(start.workspaceId, start.idempotency))
    if (before && before.executionId !== executionId) return before
    const status = await store.statusOf(start.workspaceId, executionId)
    if (status) return { executionId, status: status as Started['status'], replayed: true }
    if (await store.isGone(start.workspaceId)) throw problem('not_found', 'The workspace was deleted.')
    throw problem('unavailable', 'The execution could not be started. Try again in a moment.', { retryAfterS: 1 })
  }

  const startOnce = async (start: InnerStart, executionId: string, row: StartRow): Promise<Started> => {
    const at = { workspaceId: start.workspaceId, executionId }
    const isLater = row.startAt !== undefined || row.startInS !== undefined
    if (worker && !row.gate && !isLater && worker.hasRoomFor(start.workspaceId)) {
      const definition = await worker.loadDefinition(start.workspaceId, start.definitionRef)
      // A definition that only a newer release understands is queued for a worker of that release.
      if (worker.understands(definition)) {
        if (await worker.begin(at, row, definition)) return { executionId, status: 'running', replayed: false }
        return alreadyStarted(start, executionId)
      }
    }
    await refuseWhenFull(start.workspaceId, row.gate !== undefined || isLater)
    if (!(await queue.add({ ...at, start: row }))) return alreadyStarted(start, executionId)
    if (row.gate && start.workflowId !== null) deps.decideSoon(start.workspaceId, start.workflowId)
    else worker?.claimSoon()
    return { executionId, status: row.gate || isLater ? 'waiting' : 'queued', replayed: false }
  }

  const startUntil = async (
    start: InnerStart,
    executionId: string,
    row: StartRow,
    platformRetry: number,
  ): Promise<Started> => {
    for (const begunAt = performance.now(); ; ) {
      try {
        return await startOnce(start, executionId, row)
      } catch (error) {
        if (error instanceof Refused) throw problem('malformed', 'The execution could not be stored.', { cause: error })
        if (error instanceof Full)
          throw problem('storage_full', 'The disk of the database is full.', { retryAfterS: 30, cause: error })
        // The start is repeated with the same id. If the first try was written after all, that execution is returned.
        const lost =
          error instanceof Fenced || error instanceof Unknown || error instanceof Unsent || isConnectionLost(error)
        if (!lost) throw error
        if (performance.now() - begunAt > platformRetry) throw noAnswer(error)
        await pause(50)
      }
    }
  }

  const refuseWhenOverloaded = (): void => {
    const journal = worker?.journal()
    const waiting = (journal?.waiting() ?? 0) + queue.waiting()
    if (waiting > limits.journal) {
      throw problem('overloaded', 'The service is overloaded. Try again in a moment.', { retryAfterS: 1 })
    }
    if ((journal?.stalledFor() ?? 0) > STALLED || queue.stalledFor() > STALLED) throw noAnswer()
  }

  /** `patience`: unlimited for a child whose parent waits for it. */
  const begin = async (start: InnerStart, platformRetry = PATIENCE): Promise<Started> => {
    const executionId = start.executionId ?? newId()
    if (platformRetry !== Number.POSITIVE_INFINITY) refuseWhenOverloaded()
    const kept = start.snapshot && withoutBlobs(start.snapshot)
    const text = JSON.stringify([start.input, start.trigger.id, kept ?? null])
    if (hasBadText(text)) {
      throw problem('malformed', 'The input contains NUL characters or unpaired surrogates, which cannot be stored.')
    }
    return within(startUntil(start, executionId, rowOf(start, text.length), platformRetry), platformRetry)
  }

  return { start: begin, startedBefore }
}
