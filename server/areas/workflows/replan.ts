import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { nextTime, type Plan } from './times.ts'

// If the database's clock was ahead and was set back, times that were planned before are too far in the future and
// would not run until the clock catches up. Such times are calculated again.

/** Jobs have only a cron pattern. */
type Planned = Pick<Plan, 'cron' | 'timezone'> &
  Partial<Plan> & { workspace_id: string; id: string; next: Date; now: Date }

export type Plans = {
  /** The name under which the latest observed time is stored. */
  name: string
  /** The query for a page: after a workspace, after an id in it, with a limit. */
  list: string
  /** The statement that moves one time: workspace, id, old time, new time. */
  move: string
}

const PAGE = 500
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Returns the next time of the pattern if the planned time is later, otherwise undefined. */
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

/**
 * Called at every poll; reads one row. The stored time changes only after everything is planned again, so that a crash
 * repeats the work.
 */
export async function replanAfterPutBack(db: Database, log: Logger, plans: Plans): Promise<void> {
  const { rows } = await db.appPool.query<{ back: boolean }>('select clock_was_put_back($1) as back', [plans.name])
  if (!rows[0]?.back) return
  const moved = await replanAll(db, plans)
  await db.appPool.query('select accept_clock($1)', [plans.name])
  log.warn({ plans: plans.name, moved }, 'the clock of the database was set back; schedules are planned again')
}
