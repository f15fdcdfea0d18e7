import { MINUTE, SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { cancelLiveExecutions, findWithLiveExecutions } from './store.ts'

// A start reads the workflow in another transaction than the one that writes the execution. If the workflow is deleted
// in between, the deletion cannot see the execution. It is found and cancelled here.

const EVERY = 5 * SECOND
/** The time after a deletion in which nearly all such executions are written: a start is refused after seconds. */
const SOON = '2 minutes'
/** A child of an execution is started when the database answers again, however long that takes. */
const LATE = '1 day'
const LATE_EVERY = 60 * MINUTE

export function makeLateStarts({ db, log }: { db: Database; log: Logger }): Omit<PeriodicCheck, 'wake'> {
  let lookedLateAt = Number.NEGATIVE_INFINITY

  const { start, stop } = makePeriodicCheck({
    async check() {
      const isLate = performance.now() - lookedLateAt >= LATE_EVERY
      const { rows } = await db.appPool.query<{ workspace_id: string; workflow_id: string }>(
        'select workspace_id, workflow_id from workflows_deleted_since($1)',
        [isLate ? LATE : SOON],
      )
      const withLive = rows.length === 0 ? [] : await db.engine((tx) => findWithLiveExecutions(tx, rows))
      for (const { workspace_id: workspaceId, workflow_id: workflowId } of withLive)
        await db.tenant({ workspaceId, userId: null }, (tx) =>
          cancelLiveExecutions(tx, { workspaceId, workflowId }, { by: null, reason: 'the workflow was deleted' }),
        )
      if (isLate) lookedLateAt = performance.now()
      return EVERY
    },
    onError: (error) => log.warn({ err: error }, 'executions of deleted workflows could not be read'),
  })
  return { start, stop }
}
