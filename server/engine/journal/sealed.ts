import type pg from 'pg'
import { whenFree } from '../when-free.ts'

// A week in which everything has ended is sealed by a constraint. The id of an execution says in which week it stands, and is not
// always of today: a job that was paused for a month goes on with ids of the time of its run. Such a start opens the week.

type Violation = { code?: string; constraint?: string; table?: string }

export const isSealed = (error: unknown): boolean => {
  const { code, constraint } = error as Violation
  return code === '23514' && constraint === 'all_ended'
}

/** Nothing of the statement was written. Once the week is open it can be sent again; maintenance seals the week later. */
export const openWeek = (client: pg.PoolClient | pg.Pool, error: unknown): Promise<unknown> =>
  whenFree(() => client.query('select engine.open_week($1)', [(error as Violation).table]))
