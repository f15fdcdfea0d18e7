import { type Plans, replanAfterPutBack } from '#areas/workflows/replan'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { DUE_HINTS } from '../events.ts'
import { beginRun } from './begin.ts'
import { executeRun, type RunnerOptions } from './run.ts'
import { workspacesAtLimit } from './run-limits.ts'
import { takeRun } from './runs.ts'

// Starts due jobs and takes over runs that no process drives. An idle system polls every five seconds and after a
// notification. Otherwise it sleeps exactly until the next due time.

const POLL_AT_LEAST_EVERY = 5 * SECOND
const POLL_AT_MOST_EVERY = 20
const FULL_POLL_EVERY = SECOND / 4
const AT_ONCE = 50

const PLANS: Plans = {
  name: 'jobs',
  list: 'select * from planned_jobs($1, $2, $3)',
  move: 'update enrichment_jobs set due_at = $4 where workspace_id = $1 and job_id = $2 and due_at = $3',
}

type Free = { workspace_id: string; run_id: string }
type Due = { workspace_id: string; job_id: string }

export function makeDispatcher(
  given: Omit<RunnerOptions, 'onWaiting'> & { db: Database; log: Logger },
): Omit<PeriodicCheck, 'wake'> {
  const { db, log } = given
  const runnerId = newId()
  const stopping = new AbortController()
  const driving = new Map<string, { workspaceId: string; waits: boolean; over: Promise<void> }>()

  const options: RunnerOptions = {
    ...given,
    onWaiting(runId, waits) {
      const one = driving.get(runId)
      if (one === undefined || one.waits === waits) return
      one.waits = waits
      if (waits) periodicCheck.wake()
    },
  }

  const withoutRoom = (): string[] => workspacesAtLimit(driving.values())
  const hasRoom = (workspaceId: string): boolean => !withoutRoom().includes(workspaceId)

  async function drive({ workspace_id, run_id }: Free): Promise<boolean> {
    if (driving.has(run_id) || !hasRoom(workspace_id)) return false
    const run = await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
      takeRun(tx, workspace_id, run_id, runnerId),
    )
    if (!run) return true
    const over = executeRun(options, run, runnerId, stopping.signal).finally(() => {
      driving.delete(run_id)
      periodicCheck.wake()
    })
    driving.set(run_id, { workspaceId: workspace_id, waits: false, over })
    return true
  }

  const careful = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => log.error({ err: error }, what))
  }

  /** Returns the milliseconds until the next work. An idle system makes only this one cheap query. */
  async function untilNext(): Promise<number> {
    const { rows } = await db.appPool.query<{ in_ms: number | null }>(
      'select (extract(epoch from next_ledger_work_at() - now()) * 1000)::float8 as in_ms',
    )
    return rows[0]?.in_ms ?? POLL_AT_LEAST_EVERY
  }

  /**
   * Starts due jobs and takes over free runs, the oldest of each workspace first. Skips workspaces without room.
   * Returns whether work may have been left for lack of room.
   */
  async function takeUp(): Promise<boolean> {
    let left = 0
    const { rows: due } = await db.appPool.query<Due>('select * from due_jobs($1, $2)', [AT_ONCE, withoutRoom()])
    for (const { workspace_id, job_id } of due) {
      if (!hasRoom(workspace_id)) left += 1
      else
        await careful('a job could not be started', async () => {
          const run_id = await beginRun(options, workspace_id, job_id)
          if (run_id !== undefined) await drive({ workspace_id, run_id })
        })
    }
    const { rows: free } = await db.appPool.query<Free>('select * from free_runs($1, $2)', [AT_ONCE, withoutRoom()])
    for (const run of free)
      await careful('a run could not be started or resumed', async () => {
        if (!(await drive(run))) left += 1
      })
    return left > 0 || withoutRoom().length > 0
  }

  async function check(): Promise<number> {
    await replanAfterPutBack(db, log, PLANS)
    let next = await untilNext()
    if (next <= 0) {
      const left = await takeUp()
      next = Math.max(left ? FULL_POLL_EVERY : POLL_AT_MOST_EVERY, await untilNext())
    }
    return Math.min(POLL_AT_LEAST_EVERY, next)
  }

  const periodicCheck = makePeriodicCheck({
    check,
    listen: (wake) => db.listen(DUE_HINTS, wake),
    onError: (error) => log.warn({ err: error }, 'due jobs could not be read'),
  })

  return {
    start: periodicCheck.start,
    /** Releases all runs at once, so that other processes continue with them. */
    async stop(): Promise<void> {
      stopping.abort()
      await periodicCheck.stop()
      await Promise.all([...driving.values()].map(({ over }) => over))
    },
  }
}
