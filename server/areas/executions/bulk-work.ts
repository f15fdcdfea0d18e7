import { createHash } from 'node:crypto'
import type { Engine } from '#engine/ports'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isConnectionLost } from '#platform/db/unavailable'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { type Found, listFound } from './bulk-find.ts'
import * as store from './bulk-store.ts'
import { findFlow, findTarget, makeCountedStart, type Quota, requireActivated } from './start.ts'

// Executes bulk operations in portions. Each portion is one transaction, which commits its effects and its progress
// together. A retry is started outside of the transaction. Its id is derived from the bulk operation and the execution,
// so repeating a portion starts nothing twice.

const CHANNEL = 'bulks'
const PORTION = 100
const POLL_EVERY = 5 * SECOND

type Parts = { db: Database; engine: Engine; quota: Quota; log: Logger }
type Place = { workspace_id: string; bulk_id: string }

export const hintBulks = (tx: Pick<Tx, 'hint'>): void => tx.hint(CHANNEL, '')

/** The id contains the creation time of the bulk operation, so that it belongs to a week whose partition exists. */
export function retryIdOf(bulk: Pick<store.BulkRow, 'bulk_id' | 'created_at'>, executionId: string): string {
  const hash = createHash('sha256').update(`${bulk.bulk_id}:${executionId}`).digest('hex')
  const time = bulk.created_at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

type Outcome = { done: number; refused: number; error: string | null }

async function cancelThese(
  parts: Parts,
  tx: Tx,
  workspaceId: string,
  bulk: store.BulkRow,
  found: Found[],
): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: 0, error: null }
  for (const { execution_id } of found) {
    const cancelled = await parts.engine.cancel(
      tx,
      { workspaceId, executionId: execution_id },
      toWire('usr', bulk.created_by),
    )
    if (cancelled === 'accepted' || cancelled === 'duplicate') outcome.done += 1
    else {
      outcome.refused += 1
      outcome.error = 'It had already ended.'
    }
  }
  return outcome
}

async function retryOne(parts: Parts, workspaceId: string, bulk: store.BulkRow, found: Found): Promise<void> {
  const { db, engine } = parts
  const { from = 'start', version = 'same' } = bulk.options
  const { target, flow } = await db.tenant({ workspaceId, userId: bulk.created_by }, async (tx) => {
    await requireActivated(tx, workspaceId, found.workflow_id)
    if (version === 'active') return { target: await findTarget(tx, workspaceId, found.workflow_id), flow: null }
    return { target: undefined, flow: await findFlow(tx, workspaceId, found.workflow_id) }
  })
  await makeCountedStart(parts)(
    workspaceId,
    undefined,
    () => {},
    () =>
      engine.retry({
        workspaceId,
        executionId: found.execution_id,
        retryId: retryIdOf(bulk, found.execution_id),
        from,
        ...(target && { target }),
        flow,
        startedBy: bulk.created_by,
        trigger: { kind: 'user', id: toWire('usr', bulk.created_by) },
      }),
  )
}

/** Checks whether the service itself has a problem. The portion is then repeated later. */
const isTrouble = (error: unknown): boolean =>
  isConnectionLost(error) ||
  (isProblem(error) && ['overloaded', 'unavailable', 'queue_full', 'storage_full'].includes(error.code))

async function retryThese(parts: Parts, workspaceId: string, bulk: store.BulkRow, found: Found[]): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: 0, error: null }
  for (const one of found) {
    try {
      await retryOne(parts, workspaceId, bulk, one)
      outcome.done += 1
    } catch (error) {
      if (isTrouble(error)) throw error
      if (!isProblem(error)) parts.log.error({ err: error, execution_id: one.execution_id }, 'a retry failed')
      outcome.refused += 1
      outcome.error = isProblem(error) ? error.message : 'An unexpected error. It was logged.'
    }
  }
  return outcome
}

/** Executes one portion. Returns false if nothing is left or another process works on it. */
const workOn = (parts: Parts, { workspace_id, bulk_id }: Place): Promise<boolean> =>
  parts.db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
    const bulk = await store.takeBulk(tx, workspace_id, bulk_id)
    if (!bulk) return false
    const found = await listFound(tx, workspace_id, bulk, PORTION)
    const outcome =
      bulk.action === 'cancel'
        ? await cancelThese(parts, tx, workspace_id, bulk, found)
        : await retryThese(parts, workspace_id, bulk, found)
    await store.noteProgress(tx, workspace_id, bulk_id, { ...outcome, reached: found.at(-1)?.execution_id ?? null })
    return found.length > 0
  })

export function makeBulkWork(parts: Parts): Omit<PeriodicCheck, 'wake'> {
  const { db, log } = parts
  let isStopped = false

  /** Executes one portion of each operation in turn, so that a large operation does not block the others. */
  async function check(): Promise<number> {
    for (let again = true; again && !isStopped; ) {
      again = false
      const { rows } = await db.appPool.query<Place>('select * from bulks_under_way($1)', [100])
      for (const place of rows)
        again =
          (await workOn(parts, place).catch((error: unknown) => {
            log.warn(
              { err: error, bulk_id: place.bulk_id },
              'a batch of a bulk operation failed and is tried again later',
            )
            return false
          })) || again
    }
    return POLL_EVERY
  }

  const { start, stop } = makePeriodicCheck({
    check,
    listen: (wake) => db.listen(CHANNEL, wake),
    onError: (error) => log.warn({ err: error }, 'bulk operations could not be read'),
  })
  return {
    start,
    async stop() {
      isStopped = true
      await stop()
    },
  }
}
