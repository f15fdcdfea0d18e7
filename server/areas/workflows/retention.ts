import type { Retention } from '#engine/retention'
import type { Database } from '#platform/db/pool'

/** Returns the workflows of all workspaces whose settings limit how long ended executions are kept. */
export const listRetentions = async (db: Database): Promise<Retention[]> =>
  (await db.appPool.query<Retention>('select * from workflow_retentions()')).rows
