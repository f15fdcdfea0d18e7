import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Bulk } from './bulk-schema.ts'

export type StoredFilter = {
  execution_ids?: string[]
  workflow_id?: string
  status?: string[]
  trigger?: string[]
  error_code?: string
  tag?: string
  from?: string
  to?: string
}

export type BulkRow = {
  bulk_id: string
  action: 'cancel' | 'retry'
  filter: StoredFilter
  options: { from?: string; version?: 'same' | 'active' }
  status: 'running' | 'done'
  reached: string
  created_by: string
  created_at: Date
}

const columns = 'bulk_id, action, filter, status, total, done, refused, last_error, created_at, finished_at'

export const insertBulk = (
  tx: Tx,
  workspaceId: string,
  bulk: Pick<BulkRow, 'bulk_id' | 'action' | 'filter' | 'options' | 'created_by'> & { total: number },
): Promise<Bulk> =>
  tx.row<Bulk>(
    `insert into execution_bulks (workspace_id, bulk_id, action, filter, options, total, created_by)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
    [
      workspaceId,
      bulk.bulk_id,
      bulk.action,
      JSON.stringify(bulk.filter),
      JSON.stringify(bulk.options),
      bulk.total,
      bulk.created_by,
    ],
  )

export const findBulk = (tx: Tx, workspaceId: string, bulkId: string, userId: string): Promise<Bulk | undefined> =>
  tx.maybe<Bulk>(
    `select ${columns} from execution_bulks where workspace_id = $1 and bulk_id = $2 and created_by = $3`,
    [workspaceId, bulkId, userId],
  )

/** Deletes bulk operations that ended more than 30 days ago. */
export const forgetOld = (tx: Tx, workspaceId: string): Promise<number> =>
  tx.count(`delete from execution_bulks where workspace_id = $1 and finished_at < now() - interval '30 days'`, [
    workspaceId,
  ])

/** Counts the running bulk operations. The lock serializes the counts of one workspace. */
export async function countRunning(tx: Tx, workspaceId: string): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('execution_bulks ' || $1, 0))`, [workspaceId])
  return (
    await tx.row<{ n: number }>(
      `select count(*)::integer as n from execution_bulks where workspace_id = $1 and status = 'running'`,
      [workspaceId],
    )
  ).n
}

/** Locks a bulk operation, so that only one process works on it. Returns undefined if it is locked or done. */
export const takeBulk = (tx: Tx, workspaceId: string, bulkId: string): Promise<BulkRow | undefined> =>
  tx.maybe<BulkRow>(
    `select bulk_id, action, filter, options, status, reached, created_by, created_at from execution_bulks
     where workspace_id = $1 and bulk_id = $2 and status = 'running' for update skip locked`,
    [workspaceId, bulkId],
  )

export const noteProgress = (
  tx: Tx,
  workspaceId: string,
  bulkId: string,
  of: { reached: string | null; done: number; refused: number; error: string | null },
): Promise<number> =>
  tx.count(
    `update execution_bulks set reached = coalesce($3, reached), done = done + $4, refused = refused + $5,
       last_error = coalesce($6, last_error), status = case when $3::uuid is null then 'done' else status end,
       finished_at = case when $3::uuid is null then now() end
     where workspace_id = $1 and bulk_id = $2`,
    [workspaceId, bulkId, of.reached, of.done, of.refused, of.error],
  )

export const toStored = (filter: object): StoredFilter =>
  JSON.parse(JSON.stringify(filter)) as JsonObject as StoredFilter
