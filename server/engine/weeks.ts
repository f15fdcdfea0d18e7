import { DAY } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import { retryWhileLocked } from './lock-retry.ts'
import { blobsOf } from './outputs.ts'

// Executions and their journals are partitioned by week. A week in which every execution has ended is sealed, so that
// the search for live executions does not read it. A week that is old enough is dropped. Both operations need a lock
// that blocks every statement on executions, so they give up after a tenth of a second and are tried again
// (docs/decisions/weekly-executions.md).

const WEEK = 7 * DAY
const AT_ONCE = 500
/**
 * The maximum number of executions that are copied while the tables are locked. With a week of 100,000 executions and
 * 200 kept, no read took longer than before.
 */
const MAX_KEPT = 200

const nameOf = (week: Date): string => week.toISOString().slice(0, 10).replaceAll('-', '')

/** Returns the prefix of the blobs of all executions of a week. */
export const blobsOfWeek = (week: Date): string => `runs/${nameOf(week)}/`

type Week = { startAt: Date; age: number }

export async function listWeeks(db: Database): Promise<Week[]> {
  const rows = await db.engine((tx) =>
    tx.rows<{ start_at: Date; age: number }>(
      'select start_at, (extract(epoch from now() - start_at) * 1000)::float8 as age from engine.weeks()',
    ),
  )
  return rows.map(({ start_at, age }) => ({ startAt: start_at, age }))
}

export const ensureWeeks = (db: Database): Promise<unknown> =>
  retryWhileLocked(() => db.engine((tx) => tx.rows('select engine.ensure_partitions()')))

/** Seals a past week in which no execution is live. */
async function sealWeek(db: Database, week: Date): Promise<void> {
  const sealed = await retryWhileLocked(() =>
    db.engine((tx) => tx.row<{ sealed: boolean }>('select engine.seal_week($1) as sealed', [week])),
  )
  if (sealed?.sealed) await retryWhileLocked(() => db.engine((tx) => tx.rows('select engine.confirm_seal($1)', [week])))
}

/** Deletes, in portions, executions that are not deleted with a whole week. */
async function forgetFrom(
  deps: { db: Database; blobs: Blobs; retentionDays: number },
  partition: string,
  journal: boolean,
): Promise<number> {
  let forgotten = 0
  for (;;) {
    const gone = await deps.db.engine((tx) =>
      tx.rows<{ workspace_id: string; execution_id: string }>('select * from engine.forget_some($1, $2, $3, $4)', [
        partition,
        deps.retentionDays,
        journal,
        AT_ONCE,
      ]),
    )
    // Otherwise the week of the journal still exists as a whole, and the blobs are deleted with it.
    if (journal)
      for (const { workspace_id, execution_id } of gone)
        await deps.blobs.removeUnder(blobsOf({ workspaceId: workspace_id, executionId: execution_id }))
    forgotten += gone.length
    if (gone.length < AT_ONCE) return forgotten
  }
}

/** Returns the number of deleted executions, and whether none is left. */
async function dropWeek(
  deps: { db: Database; blobs: Blobs; retentionDays: number },
  week: Date,
): Promise<{ gone: number; kept: boolean }> {
  const { db, blobs, retentionDays } = deps
  await db.engine((tx) => tx.rows('select engine.clear_week($1, $2)', [week, retentionDays]))
  const detached = await retryWhileLocked(() =>
    db.engine((tx) =>
      tx.row<{ kept: number | null }>('select engine.detach_week($1, $2, $3) as kept', [week, retentionDays, MAX_KEPT]),
    ),
  )
  if (detached === undefined) return { gone: 0, kept: true }
  if (detached.kept === null) return { gone: await forgetFrom(deps, `executions_${nameOf(week)}`, true), kept: true }
  const { gone } = await db.engine((tx) => tx.row<{ gone: number }>('select gone from engine.remove_week($1)', [week]))
  if (detached.kept === 0) await blobs.removeUnder(blobsOfWeek(week))
  return { gone: gone - detached.kept, kept: detached.kept > 0 }
}

/** Deletes the blobs of a dropped week when the last execution that was kept of it is gone. */
async function forgetKeptWeeks(db: Database, blobs: Blobs): Promise<number> {
  const over = await db.engine((tx) =>
    tx.rows<{ start_at: Date }>(
      `select k.start_at from kept_weeks k where not exists (select from executions e
         where e.execution_id >= engine.first_id(k.start_at) and e.execution_id < engine.first_id(k.start_at + interval '7 days'))`,
    ),
  )
  for (const { start_at } of over) {
    await blobs.removeUnder(blobsOfWeek(start_at))
    await db.engine((tx) => tx.count('delete from kept_weeks where start_at = $1', [start_at]))
  }
  return over.length
}

export async function forgetWeeks(deps: {
  db: Database
  blobs: Blobs
  retentionDays: number
}): Promise<{ droppedWeeks: number; executions: number }> {
  const { db, blobs, retentionDays } = deps
  let executions =
    (await forgetFrom(deps, 'executions_default', true)) + (await forgetFrom(deps, 'executions_before', false))
  let droppedWeeks = 0
  for (const { startAt, age } of await listWeeks(db)) {
    if (age < WEEK + retentionDays * DAY) {
      await sealWeek(db, startAt)
      continue
    }
    const { gone, kept } = await dropWeek(deps, startAt)
    executions += gone
    if (!kept) droppedWeeks += 1
  }
  droppedWeeks += await forgetKeptWeeks(db, blobs)
  await retryWhileLocked(() => db.engine((tx) => tx.rows('select engine.remove_before()')))
  return { droppedWeeks, executions }
}
