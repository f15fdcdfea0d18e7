import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import { isConnectionLost } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import type { GraphState } from './interpreter/state.ts'
import type { StartRow } from './journal/batch.ts'
import { Fenced, Refused, Unknown } from './journal/journal.ts'
import type { Start, Started } from './ports.ts'
import { hasBadText } from './text.ts'
import type { Store } from './worker/store.ts'
import type { Worker } from './worker/worker.ts'

export type InnerStart = Start & {
  parent?: { executionId: string; node: string } | null
  depth?: number
  retryOf?: string | null
  snapshot?: GraphState
}

export type QueueLimits = {
  /** Executions of one workspace that may be queued. */
  perWorkspace: number
  /** Appends this process may have waiting for the database. */
  journal: number
}

export const defaultQueueLimits: QueueLimits = { perWorkspace: 50_000, journal: 5_000 }

const GIVE_UP = 5 * SECOND
const DEPTH_FOR = SECOND / 4

const rowOf = (start: InnerStart): StartRow => ({
  definitionRef: start.definitionRef,
  workflowId: start.workflowId,
  versionId: start.versionId,
  systemSlug: start.systemSlug ?? null,
  timeoutS: start.timeoutS ?? null,
  maxConcurrency: start.maxConcurrency ?? null,
  input: start.input,
  trigger: start.trigger,
  startedBy: start.startedBy,
  retryOf: start.retryOf ?? null,
  parent: start.parent ?? null,
  depth: start.depth ?? 0,
  tellEnd: start.tellEnd ?? false,
  ...(start.snapshot && { snapshot: start.snapshot }),
  ...(start.idempotency && { key: start.idempotency }),
})

/** Starts executions: owned from birth where this process has room, queued where it has not. Durable either way. */
export const makeStarter = (deps: { worker: Worker | undefined; store: Store; limits: QueueLimits }) => {
  const { worker, store, limits } = deps
  const depths = new Map<string, { depth: number; readAt: number }>()

  const refuseWhenFull = async (workspaceId: string): Promise<void> => {
    const now = performance.now()
    let known = depths.get(workspaceId)
    if (!known || now - known.readAt > DEPTH_FOR) {
      if (depths.size > 10_000) depths.clear()
      known = { depth: await store.queueDepth(workspaceId, limits.perWorkspace), readAt: now }
      depths.set(workspaceId, known)
    }
    if (known.depth >= limits.perWorkspace) {
      throw problem('queue_full', 'Too many executions of this workspace are queued. Try again when some have ended.', {
        retryAfterS: 5,
      })
    }
    known.depth += 1
  }

  const alreadyStarted = async (start: InnerStart, executionId: string): Promise<Started> => {
    if (start.idempotency) {
      const { credentialHash, keyHash, bodySha256 } = start.idempotency
      const holder = await store.keyHolder(credentialHash, keyHash)
      if (holder && holder.execution_id !== executionId) {
        if (!holder.body_sha256.equals(bodySha256) || holder.workspace_id !== start.workspaceId) {
          throw problem('idempotency_key_reused', 'Use a new Idempotency-Key for a new request.')
        }
        return {
          executionId: holder.execution_id,
          status: (holder.status ?? 'succeeded') as Started['status'],
          replayed: true,
        }
      }
    }
    const status = await store.statusOf(start.workspaceId, executionId)
    if (!status)
      throw problem('unavailable', 'The execution could not be started. Try again in a moment.', { retryAfterS: 1 })
    return { executionId, status: status as Started['status'], replayed: true }
  }

  /** Without a worker of this process: the row alone, for whichever worker claims it. */
  const enqueue = async (start: InnerStart, executionId: string): Promise<Started> => {
    const row = rowOf(start)
    const outcome = await store.startQueued(start.workspaceId, executionId, JSON.stringify(row.input ?? null), {
      workflow_id: row.workflowId,
      system_slug: row.systemSlug ?? null,
      version_id: row.versionId,
      definition_ref: row.definitionRef,
      trigger_kind: row.trigger.kind,
      trigger_id: row.trigger.id,
      started_by: row.startedBy,
      retry_of: row.retryOf ?? null,
      parent_execution_id: row.parent?.executionId ?? null,
      parent_node: row.parent?.node ?? null,
      timeout_s: row.timeoutS ?? null,
      max_concurrency: row.maxConcurrency ?? null,
      snapshot: (row.snapshot ?? null) as unknown as Json,
      tell_end: row.tellEnd,
      depth: row.depth,
      credential_hash: row.key?.credentialHash.toString('hex') ?? null,
      key_hash: row.key?.keyHash.toString('hex') ?? null,
      body_sha256: row.key?.bodySha256.toString('hex') ?? null,
    })
    if (outcome === 'duplicate') return alreadyStarted(start, executionId)
    if (outcome !== 'accepted') throw problem('unavailable', 'The execution could not be started.')
    worker?.claimSoon()
    return { executionId, status: 'queued', replayed: false }
  }

  const startOnce = async (start: InnerStart, executionId: string): Promise<Started> => {
    const at = { workspaceId: start.workspaceId, executionId }
    if (worker && start.maxConcurrency == null && worker.hasRoomFor(start.workspaceId)) {
      const definition = await worker.loadDefinition(start.workspaceId, start.definitionRef)
      if (await worker.begin(at, rowOf(start), definition)) return { executionId, status: 'running', replayed: false }
      return alreadyStarted(start, executionId)
    }
    await refuseWhenFull(start.workspaceId)
    return enqueue(start, executionId)
  }

  return async (start: InnerStart): Promise<Started> => {
    const executionId = start.executionId ?? newId()
    if (worker && worker.identity().journal.waiting() > limits.journal) {
      throw problem('overloaded', 'The service has more to do than it can. Try again in a moment.', { retryAfterS: 1 })
    }
    const text = JSON.stringify([start.input, start.trigger.id, start.snapshot ?? null])
    if (hasBadText(text)) {
      throw problem('malformed', 'The input holds NUL characters or halves of surrogate pairs, which cannot be stored.')
    }
    for (const begunAt = performance.now(); ; ) {
      try {
        return await startOnce(start, executionId)
      } catch (error) {
        // Sent again with the same id: if it was written after all, that is the execution.
        const lost = error instanceof Fenced || error instanceof Unknown || isConnectionLost(error)
        const again = lost && performance.now() - begunAt < GIVE_UP
        if (error instanceof Refused) throw problem('malformed', 'The execution could not be stored.', { cause: error })
        if (!again) {
          if (lost) {
            throw problem('unavailable', 'The database does not answer. Try again in a moment.', {
              retryAfterS: 1,
              cause: error,
            })
          }
          throw error
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
}
