import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { nextTime, type Plan } from './times.ts'

// The database's clock was ahead and was put back: what was planned meanwhile lies too far ahead, and would not run until the
// clock has caught up. Such times are computed anew.

/** Jobs have a pattern alone. */
type Planned = Pick<Plan, 'cron' | 'timezone'> &
  Partial<Plan> & { workspace_id: string; id: string; next: Date; now: Date }

export type Plans = {
  /** The name under which the latest time seen is remembered. */
  name: string
  /** Reads a page: after a workspace, after an id in it, at most this number. */
  list: string
  /** Moves one: workspace, id, the time it had, the time it gets. */
  move: string
}

const PAGE = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Where a time lies beyond the next one of its pattern, that next one; otherwise undefined. */
function earlier({ next, now, every_s = null, at = null, anchor = now, ...rest }: Planned): Date | undefined {
  const right = nextTime({ ...rest, every_s, at, anchor }, now)
  return right !== null && right < next ? right : undefined
}

async function replanAll(db: Database, plans: Plans): Promise<number> {
  let moved = 0
  for (let after: Pick<Planned, 'workspace_id' | 'id'> = { workspace_id: BEFORE_ALL, id: BEFORE_ALL }; ; ) {
    const { rows } = await db.appPool.query<Planned>(plans.list, [after.workspace_id, after.id, PAGE])
    for (const row of rows) {
      const next = earlier(row)
      if (next === undefined) continue
      moved += await db.tenant({ workspaceId: row.workspace_id, userId: null }, (tx) =>
        tx.count(plans.move, [row.workspace_id, row.id, row.next, next]),
      )
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return moved
    after = last
  }
}

/** Asked at every look: one row is read. The mark moves only when all is planned anew, so a crash in between repeats it. */
export async function replanAfterPutBack(db: Database, log: Logger, plans: Plans): Promise<void> {
  const { rows } = await db.appPool.query<{ back: boolean }>('select clock_was_put_back($1) as back', [plans.name])
  if (!rows[0]?.back) return
  const moved = await replanAll(db, plans)
  await db.appPool.query('select accept_clock($1)', [plans.name])
  log.warn({ plans: plans.name, moved }, "the database's clock was put back; what was planned by it is planned anew")
}
