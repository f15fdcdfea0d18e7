import type pg from 'pg'
import { retryWhileLocked } from '../lock-retry.ts'

// A week in which every execution has ended is sealed by a constraint. The week of an execution follows from its id,
// and the id is not always new: a job that was paused for a month continues with ids from the time of its run. Such a
// start opens the week again.

type Violation = { code?: string; constraint?: string; table?: string }

export const isWeekSealed = (error: unknown): boolean => {
  const { code, constraint } = error as Violation
  return code === '23514' && constraint === 'all_ended'
}

/** Opens the week. The statement wrote nothing and can then be sent again. Maintenance seals the week later. */
export const openWeek = (client: pg.PoolClient | pg.Pool, error: unknown): Promise<unknown> =>
  retryWhileLocked(() => client.query('select engine.open_week($1)', [(error as Violation).table]))
