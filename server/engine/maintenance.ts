import type { Database } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import { makeRetention, type Retention } from './retention.ts'
import { blobsOfWeek, ensureWeeks, forgetWeeks, listWeeks } from './weeks.ts'

// Keeps the engine's tables from growing without limit. Several processes may run it; the database serializes them.

export type Maintenance = { run(): Promise<{ droppedWeeks: number; executions: number }> }

const KEYS_AT_ONCE = 10_000
const WORKSPACES_AT_ONCE = 1000
const EXECUTIONS_AT_ONCE = 500

export const makeMaintenance = (deps: {
  db: Database
  blobs: Blobs
  /** The minimum number of days that an ended execution and its journal are kept. */
  retentionDays: number
  /** The workflows with a shorter retention. */
  retentions?(): Promise<Retention[]>
}): Maintenance => {
  const { db, blobs, retentionDays } = deps
  const forgetEnded = makeRetention({ db, blobs, retentions: deps.retentions ?? (async () => []) })

  const run: Maintenance['run'] = async () => {
    await ensureWeeks(db)
    const forgotten = await forgetEnded()
    const { droppedWeeks, executions } = await forgetWeeks({ db, blobs, retentionDays })
    for (;;) {
      const gone = await db.engine((tx) =>
        tx.count(
          `delete from start_keys where (credential_hash, key_hash) in (
             select credential_hash, key_hash from start_keys where created_at < now() - interval '24 hours' limit $1)`,
          [KEYS_AT_ONCE],
        ),
      )
      if (gone < KEYS_AT_ONCE) break
    }
    for (;;) {
      // Permits of a rate and keys of a dedupe have no effect after their window.
      const gone = await db.engine((tx) =>
        tx.count(
          `delete from flow_marks where (workspace_id, mark, n) in (
             select workspace_id, mark, n from flow_marks where until < now() order by until limit $1)`,
          [KEYS_AT_ONCE],
        ),
      )
      if (gone < KEYS_AT_ONCE) break
    }
    await db.engine((tx) =>
      tx.count(`delete from workers w where dead and started_at < now() - interval '1 day'
        and not exists (select from executions e where e.status = 'running' and e.worker_id = w.worker_id)`),
    )
    await sweepGone()
    return { droppedWeeks, executions: forgotten + executions }
  }

  /**
   * Cleans up deleted workspaces: ends executions that were started during the deletion, and removes rows and blobs.
   */
  const sweepGone = async (): Promise<void> => {
    const weeks = await listWeeks(db)
    const gone = await db.engine((tx) =>
      tx.rows<{ workspace_id: string; old: boolean }>(
        `select workspace_id, at < now() - interval '1 day' as old from gone_workspaces order by at limit $1`,
        [WORKSPACES_AT_ONCE],
      ),
    )
    for (const { workspace_id, old } of gone) {
      await db.engine((tx) => tx.rows('select engine.end_workspace($1)', [workspace_id]))
      for (let swept = EXECUTIONS_AT_ONCE; swept === EXECUTIONS_AT_ONCE; ) {
        const [batch] = await db.engine((tx) =>
          tx.rows<{ swept: number }>('select engine.sweep_workspace($1, $2) as swept', [
            workspace_id,
            EXECUTIONS_AT_ONCE,
          ]),
        )
        swept = batch?.swept ?? 0
      }
      for (const { startAt } of weeks) await blobs.removeUnder(`${blobsOfWeek(startAt)}${workspace_id}/`)
      // The workspace stays in the list while it has a running execution, and for the first day, because data may
      // arrive late.
      if (old)
        await db.engine((tx) =>
          tx.count(
            `delete from gone_workspaces g where workspace_id = $1
             and not exists (select from executions e where e.workspace_id = g.workspace_id)`,
            [workspace_id],
          ),
        )
    }
  }

  return { run }
}
