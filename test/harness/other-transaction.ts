import pg from 'pg'
import type { Service } from './service.ts'

type OtherTransaction = {
  sql(text: string, values?: unknown[]): Promise<unknown[]>
  commit(): Promise<void>
}

/** A transaction beside those of the service, as the superuser: nobody sees what it wrote before it commits, and its locks are waited for. */
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

/** Whether statements of the service wait for a lock. `like`: a pattern of their text. */
export const waitsForLock = async ({ sql }: Pick<Service, 'sql'>, like: string, count = 1): Promise<boolean> =>
  (
    await sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [like],
    )
  ).length >= count
