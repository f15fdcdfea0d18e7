import { HOUR } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { pruneRealtime } from '#platform/realtime/prune'

/**
 * Deletes read notifications and audit entries that are older than the retention of executions, in small
 * transactions.
 */
export async function deleteOldHistory(db: Database, keptDays: number, atOnce = 10_000): Promise<void> {
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_history($1, $2) as forgotten', [keptDays, atOnce])
    )[0]!.forgotten
}

/** The tasks, by the name that the log uses. */
export type MaintenanceTasks = Record<string, () => Promise<unknown>>

/**
 * Runs all tasks at the start and every hour. Each task can be repeated at any time, and by several processes at
 * once. A task that fails does not prevent the others.
 */
export function startMaintenance(options: {
  db: Database
  log: Logger
  retentionDays: number
  tasks: MaintenanceTasks
  clearUpAtStart: boolean
}) {
  const { db, log } = options
  const tasks: MaintenanceTasks = {
    'days of idempotency keys': () => db.maintain('select ensure_idempotency_days()'),
    'feeds and tickets': () => pruneRealtime(db),
    'what has run out': () => db.maintain('select forget_old()'),
    'what was read and logged long ago': () => deleteOldHistory(db, options.retentionDays),
    ...options.tasks,
  }
  let running: Promise<void> = Promise.resolve()
  let stopped = false

  const doAll = async (): Promise<void> => {
    for (const [name, work] of Object.entries(tasks)) {
      if (stopped) return
      await work().catch((error: unknown) =>
        log.warn({ err: error, task: name }, 'maintenance failed; it is tried again in an hour'),
      )
    }
  }
  const turn = (): void => {
    running = running.then(doAll)
  }
  if (options.clearUpAtStart) turn()
  const timer = setInterval(turn, HOUR)
  timer.unref()

  return {
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
