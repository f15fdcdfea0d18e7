import type { Retention } from '#engine/retention'
import type { Database } from '#platform/db/pool'

/** Workflows of all workspaces whose settings say how long ended executions are kept. */
export const listRetentions = async (db: Database): Promise<Retention[]> =>
  (await db.appPool.query<Retention>('select * from workflow_retentions()')).rows
