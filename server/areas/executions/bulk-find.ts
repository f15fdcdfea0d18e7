import type { Tx } from '#platform/db/pool'
import { idsFrom } from '#platform/ids'
import type { BulkRow, StoredFilter } from './bulk-store.ts'
import { NOT_JOBS } from './search.ts'

// Finds the executions of a bulk operation through the indexes of their statuses. Most executions of a workspace have
// succeeded, and no bulk operation applies to them: reading them all took 0.4 s with 300,000 executions.

/** The statuses of the executions that an action applies to. */
const CONCERNED = {
  cancel: ['queued', 'running', 'waiting'],
  retry: ['failed', 'timed_out', 'cancelled'],
}

/** Executions of jobs are included only if the filter names them, because their job would not know about the retry. */
const triggersOf = ({ trigger, execution_ids }: StoredFilter): string[] | null =>
  trigger ?? (execution_ids ? null : NOT_JOBS)

// The workflows that the person may run. The rights are checked for each portion, so a revoked right takes effect at
// once.
const MINE = `mine as materialized (select w.workflow_id from workflows w
  where w.workspace_id = $1 and w.deleted_at is null and ($7::uuid is null or w.workflow_id = $7)
    and exists (select from memberships p where p.workspace_id = $1 and p.user_id = $4 and p.role in ('owner', 'member'))
    and (w.owner_id = $4 or exists (select from workflow_people m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id
      and m.user_id = $4 and m.role in ('editor', 'member'))))`

// Only executions that existed when the bulk operation was created, so that it does not retry its own retries.
const WANTED = `e.workspace_id = $1 and e.execution_id < $2 and e.execution_id >= $13 and e.created_at <= $3 and e.status = any ($5)
  and ($6::uuid[] is null or e.execution_id = any ($6)) and e.trigger_kind <> 'trial'
  and ($8::text[] is null or e.trigger_kind = any ($8)) and ($9::text is null or e.error ->> 'code' = $9)
  and ($10::text is null or $10 = any (e.tags))
  and ($11::timestamptz is null or e.created_at >= $11) and ($12::timestamptz is null or e.created_at < $12)`

const FOUND = 'e.execution_id, e.workflow_id'
const NEWEST = 'order by e.execution_id desc limit $14'

const ofEachWorkflow = (status: string): string => `select ${FOUND} from mine cross join lateral (
  select ${FOUND} from executions e where e.status = '${status}' and e.workflow_id = mine.workflow_id and ${WANTED} ${NEWEST}) as e`
const ofAllWorkflows = (status: string): string => `select ${FOUND} from executions e
  where e.status = '${status}' and e.workflow_id in (select workflow_id from mine) and ${WANTED}`

const BY_IDS = `select ${FOUND} from executions e
  where e.execution_id = any ($6) and e.workflow_id in (select workflow_id from mine) and ${WANTED}`
// The index of queued executions is not by workflow.
const BY_FILTER = {
  cancel: [ofAllWorkflows('queued'), ofEachWorkflow('running'), ofEachWorkflow('waiting')].join(' union all '),
  retry: CONCERNED.retry.map(ofEachWorkflow).join(' union all '),
}

type Wanted = Pick<BulkRow, 'action' | 'filter' | 'reached' | 'created_by' | 'created_at'>

const textOf = ({ action, filter }: Wanted): string =>
  `with ${MINE} select ${FOUND} from (${filter.execution_ids ? BY_IDS : BY_FILTER[action]}) as e ${NEWEST}`

const valuesOf = (workspaceId: string, bulk: Wanted, limit: number): unknown[] => {
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
    limit,
  ]
}

export type Found = { execution_id: string; workflow_id: string }

export const listFound = (tx: Tx, workspaceId: string, bulk: BulkRow, limit: number): Promise<Found[]> =>
  tx.rows<Found>(textOf(bulk), valuesOf(workspaceId, bulk, limit))

export const countFound = async (tx: Tx, workspaceId: string, bulk: Wanted, limit: number): Promise<number> =>
  (
    await tx.row<{ n: number }>(
      `select count(*)::integer as n from (${textOf(bulk)}) as found`,
      valuesOf(workspaceId, bulk, limit),
    )
  ).n
