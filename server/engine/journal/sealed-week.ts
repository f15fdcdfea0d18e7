import type pg from 'pg'
import type { Logger } from '#platform/log'
import { retryWhileLocked } from '../lock-retry.ts'
import { partitionOf } from '../outputs.ts'

// A week in which every execution has ended is sealed by a constraint. The week of an execution follows from its id,
// and the id is not always new: a job that was paused for a month continues with ids from the time of its run. Such a
// start opens the week again.

type Violation = { table?: string }

export type WeekOpener = {
  /** Opens the week in which the statement found a start. Maintenance seals the week again later. */
  open(error: unknown): void
}

/**
 * Opens weeks beside the journal: while somebody reads an old week, for example a backup, it cannot be opened, and
 * other executions must not wait for that.
 */
export const makeWeekOpener = ({ pool, log }: { pool: pg.Pool; log: Logger }): WeekOpener => {
  const opening = new Set<string>()
  return {
    open: (error) => {
      const { table = '' } = error as Violation
      if (opening.has(table)) return
      opening.add(table)
      retryWhileLocked(() => pool.query('select engine.open_week($1)', [table]))
        .catch((failure: Error) => log.warn({ err: failure, week: table }, 'a sealed week could not be opened'))
        .finally(() => opening.delete(table))
    },
  }
}

/** Checks whether an execution is of the sealed week. Its start is sent again by the caller. */
export const isOfWeek =
  (error: unknown) =>
  (executionId: string): boolean =>
    (error as Violation).table === `executions_${partitionOf(executionId)}`
