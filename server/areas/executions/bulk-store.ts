import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { idsFrom } from '#platform/ids'
import type { Bulk } from './bulk-schema.ts'
import { NOT_JOBS } from './search.ts'

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

/** The statuses of the executions that an action applies to. */
const CONCERNED = {
  cancel: ['queued', 'running', 'waiting'],
  retry: ['failed', 'timed_out', 'cancelled'],
}

/** Executions of jobs are included only if the filter names them, because their job would not know about the retry. */
const triggersOf = ({ trigger, execution_ids }: StoredFilter): string[] | null =>
  trigger ?? (execution_ids ? null : NOT_JOBS)

// Executions of workflows that the person may run. The rights are checked for each portion, so a revoked right takes
// effect at once. Only executions that existed when the bulk operation was created, so that it does not retry its own
// retries.
const FOUND = `from executions e join workflows w on w.workspace_id = e.workspace_id and w.workflow_id = e.workflow_id and w.deleted_at is null
  where e.workspace_id = $1 and e.execution_id < $2 and e.created_at <= $3 and e.status = any ($5) and e.trigger_kind <> 'trial'
    and exists (select from memberships p where p.workspace_id = $1 and p.user_id = $4 and p.role in ('owner', 'member'))
    and (w.owner_id = $4 or exists (select from workflow_people m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id
      and m.user_id = $4 and m.role in ('editor', 'member')))
    and ($6::uuid[] is null or e.execution_id = any ($6)) and ($7::uuid is null or e.workflow_id = $7)
    and ($8::text[] is null or e.trigger_kind = any ($8)) and ($9::text is null or e.error ->> 'code' = $9)
    and ($10::text is null or $10 = any (e.tags))
    and ($11::timestamptz is null or e.created_at >= $11) and ($12::timestamptz is null or e.created_at < $12)
    and e.execution_id >= $13`

const valuesOf = (
  workspaceId: string,
  bulk: Pick<BulkRow, 'action' | 'filter' | 'reached' | 'created_by' | 'created_at'>,
): unknown[] => {
  const { filter } = bulk
  const concerned = CONCERNED[bulk.action]
  return [
    workspaceId,
    bulk.reached,
    bulk.created_at,
    bulk.created_by,
    filter.status ? concerned.filter((status) => filter.status!.includes(status)) : concerned,
    filter.execution_ids ?? null,
    filter.workflow_id ?? null,
    triggersOf(filter),
    filter.error_code ?? null,
    filter.tag ?? null,
    filter.from ?? null,
    filter.to ?? null,
    // Ids start with their time, so the partitions of earlier weeks are not read.
    idsFrom(filter.from === undefined ? null : new Date(filter.from)),
  ]
}

export type Found = { execution_id: string; workflow_id: string }

export const listFound = (tx: Tx, workspaceId: string, bulk: BulkRow, limit: number): Promise<Found[]> =>
  tx.rows<Found>(`select e.execution_id, e.workflow_id ${FOUND} order by e.execution_id desc limit $14`, [
    ...valuesOf(workspaceId, bulk),
    limit,
  ])

export const countFound = async (
  tx: Tx,
  workspaceId: string,
  bulk: Pick<BulkRow, 'action' | 'filter' | 'reached' | 'created_by' | 'created_at'>,
  limit: number,
): Promise<number> =>
  (
    await tx.row<{ n: number }>(`select count(*)::integer as n from (select ${FOUND} limit $14) as found`, [
      ...valuesOf(workspaceId, bulk),
      limit,
    ])
  ).n

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
