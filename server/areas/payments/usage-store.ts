import type { Database } from '#platform/db/pool'
import type { Spent } from './counting.ts'

/** Adds the usage of many workspaces in one statement, so that no row is hot. */
export async function addUsage(db: Database, all: Spent[]): Promise<void> {
  await db.appPool.query('select add_usage($1, $2, $3, $4)', [
    all.map(({ workspaceId }) => workspaceId),
    all.map(({ quota }) => quota),
    all.map(({ period }) => period),
    all.map(({ amount }) => amount),
  ])
}
