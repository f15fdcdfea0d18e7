import pg from 'pg'
import type { Service } from './service.ts'

type OtherTransaction = {
  sql(text: string, values?: unknown[]): Promise<unknown[]>
  commit(): Promise<void>
}

/**
 * Runs `work` in a separate transaction as the superuser. The service does not see its changes before it commits, and
 * waits for its locks.
 */
export async function inOtherTransaction(
  { database }: Pick<Service, 'database'>,
  work: (other: OtherTransaction) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: database.superuserUrl })
  await client.connect()
  try {
    await client.query('begin')
    await work({
      sql: async (text, values) => (await client.query(text, values)).rows,
      commit: async () => void (await client.query('commit')),
    })
  } finally {
    await client.end()
  }
}

/** Checks whether `count` statements of the service wait for a lock. `like`: a pattern for their text. */
export const waitsForLock = async ({ sql }: Pick<Service, 'sql'>, like: string, count = 1): Promise<boolean> =>
  (
    await sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [like],
    )
  ).length >= count
