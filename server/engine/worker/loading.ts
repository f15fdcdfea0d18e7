import { makeLru } from '#model/lru'
import type { Logger } from '#platform/log'
import { type PlatformFault, platformFault } from '../platform-fault.ts'
import { NeedsNewerRelease } from '../release.ts'
import type { ExecutionRow, Inboxes, Journals } from './claim-store.ts'
import type { Identities, Identity } from './identity.ts'
import { cancelData } from './inbox.ts'
import type { Owned } from './owned.ts'
import type { Store } from './store.ts'
import { suspicion } from './suspects.ts'

// Executions that are claimed and not yet read. An execution that cannot be read here goes back to the queue, each
// time for longer.

export type LoadingExecutions = {
  /** Adds a claimed execution, with the number of crashes counted against it. */
  add(executionId: string, crashes: number): void
  remove(executionId: string): void
  has(executionId: string): boolean
  count(): number
  /** Returns the sum of the `suspicion` of these executions. */
  suspicion(): number
  /** Reads the execution and hands it to the worker, or puts it back. */
  takeUp(row: ExecutionRow, of: Identity, events: Journals, inbox: Inboxes): Promise<void>
  stop(): void
}

const MAX_PAUSE_S = 60

export const makeLoadingExecutions = (deps: {
  store: Store
  log: Logger
  identities: Identities
  /** Milliseconds of the database clock. */
  now(): number
  /** Called when an execution met a fault of the platform. */
  count(kind: PlatformFault['kind']): void
  read(row: ExecutionRow, events: Journals, inbox: Inboxes): Promise<Owned>
  takeUp(owned: Owned, of: Identity): Promise<unknown>
}): LoadingExecutions => {
  const { store, log, identities } = deps
  const crashesOf = new Map<string, number>()
  /** How long executions that could not be loaded here were put back the last time. */
  const pauses = makeLru<{ seconds: number; since: Date }>(10_000)
  let stopped = false

  const putBack = (row: ExecutionRow, of: Identity, error: unknown): Promise<unknown> => {
    const before = pauses.get(row.execution_id)
    const seconds = Math.min((before?.seconds ?? 1) * 2, MAX_PAUSE_S)
    const since = before?.since ?? new Date()
    pauses.set(row.execution_id, { seconds, since })
    const fault = platformFault(error, 'engine')
    if (fault) deps.count(fault.kind)
    return store.putBack(row, of.workerId, { seconds, since, words: fault?.words ?? null })
  }

  /**
   * Ends an execution that was cancelled and cannot be read, for example because a blob is lost. Its `finally` nodes
   * cannot run. Returns false if the execution was not cancelled.
   */
  const endIfCancelled = async (
    row: ExecutionRow,
    of: Identity,
    events: Journals,
    inbox: Inboxes,
    error: unknown,
  ): Promise<boolean> => {
    const { workspace_id: workspaceId, execution_id: executionId } = row
    const message = inbox.get(executionId)?.find(({ payload }) => payload.type === 'cancel')
    if (message?.payload.type !== 'cancel' || error instanceof NeedsNewerRelease || platformFault(error, 'engine'))
      return false
    const at = deps.now()
    const { moved } = await of.journal.append({
      workspaceId,
      executionId,
      epoch: row.epoch,
      seq: row.snapshot_seq + (events.get(executionId)?.length ?? 0) + 1,
      events: [{ type: 'execution.cancelled', at, data: cancelData(message.payload) }],
      rowUpdate: { status: 'cancelled', seen: message.n, finishedAt: at, tellEnd: true },
    })
    log.warn({ err: error, execution_id: executionId }, 'a cancelled execution was ended although it could not be read')
    return moved
  }

  const notTakenUp = async (row: ExecutionRow, of: Identity, error: unknown): Promise<void> => {
    const { execution_id } = row
    const newer = error instanceof NeedsNewerRelease
    if (newer) log.info({ execution_id }, 'an execution is left to a worker with a newer release')
    else if (platformFault(error, 'engine')?.kind === 'load')
      log.info({ execution_id }, 'an execution waits for memory that other executions use')
    else log.error({ err: error, execution_id }, 'an execution could not be started or resumed')
    await (newer ? store.leaveToNewer(row, of.workerId) : putBack(row, of, error)).catch((failure: Error) =>
      log.warn({ err: failure }, 'an execution could not be put back'),
    )
  }

  return {
    add: (executionId, crashes) => crashesOf.set(executionId, crashes),
    remove: (executionId) => crashesOf.delete(executionId),
    has: (executionId) => crashesOf.has(executionId),
    count: () => crashesOf.size,
    suspicion: () => [...crashesOf.values()].reduce((sum, crashes) => sum + suspicion(crashes), 0),
    takeUp: async (row, of, events, inbox) => {
      try {
        const owned = await deps.read(row, events, inbox)
        crashesOf.delete(row.execution_id)
        pauses.remove(row.execution_id)
        // Otherwise the execution goes back to the queue when this worker gives up its identity.
        if (of === identities.current() && !identities.renewing() && !stopped) await deps.takeUp(owned, of)
      } catch (error) {
        crashesOf.delete(row.execution_id)
        const isEnded = await endIfCancelled(row, of, events, inbox, error).catch(() => false)
        if (!isEnded) await notTakenUp(row, of, error)
      }
    },
    stop: () => {
      stopped = true
    },
  }
}
