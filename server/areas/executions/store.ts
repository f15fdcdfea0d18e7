import { fromBothIndexes } from '#engine/both-indexes'
import type { Tx } from '#platform/db/pool'
import { type Listing, rangeOf, readNewest, rowsInOrder } from './newest.ts'
import type { ExecutionSummary } from './schema.ts'

/** The columns of a row in lists. */
// The functions take 45 µs per row, so they are skipped for ended executions without waits, which are most rows of a
// page.
export const summaryColumns = `execution_id, coalesce(workflow_id::text, system_slug) as workflow_id, version_id, status, error,
  case when status not in ('running', 'waiting') and waiting_for = '[]' then waiting_for
    else engine.brief_waits(engine.shown_waits(workspace_id, execution_id, status, epoch,
      engine.shown_flow(workspace_id, workflow_id, status, case when started_at is null then held end, waiting_for, created_at))) end as waiting_for,
  coalesce(priority, 0) as priority, coalesce(tags, '{}') as tags, coalesce(metadata, '{}') as metadata, scheduled_at,
  json_build_object('kind', trigger_kind, 'id', trigger_id) as trigger, started_by, retry_of, trigger_kind = 'trial' as trial, created_at, started_at, finished_at`

const inOrder = (columns: string, condition: string, oldestFirst: boolean): string =>
  `select ${columns} from executions where workspace_id = $1 and workflow_id = $2 and ${condition}
     and execution_id >= $3 and execution_id < $4 and created_at >= $5 and created_at < $6 and ($8 or trigger_kind <> 'trial')
   order by execution_id ${oldestFirst ? 'asc' : 'desc'} limit $7`
const withoutJobs = (oldestFirst: boolean): string => inOrder(summaryColumns, "trigger_kind <> 'job'", oldestFirst)
const withJobs = (oldestFirst: boolean): string =>
  `select ${summaryColumns} from ${fromBothIndexes((condition) => inOrder('*', condition, oldestFirst))} as executions
   order by execution_id ${oldestFirst ? 'asc' : 'desc'} limit $7`

// A page starts in the index where the previous page ended, so late pages are as fast as the first. With bounds on both
// sides the planner expects few rows and uses the workflow's index. With one bound, it read the whole workspace for a
// workflow without recent executions.
export const listByWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  listing: Listing & { jobs?: boolean; trials?: boolean },
): Promise<ExecutionSummary[]> =>
  readNewest(rangeOf(listing), (from, to, wanted) =>
    rowsInOrder<ExecutionSummary>(tx, listing.jobs ? withJobs(listing.oldestFirst) : withoutJobs(listing.oldestFirst), [
      workspaceId,
      workflowId,
      from,
      to,
      listing.from ?? '-infinity',
      listing.to ?? 'infinity',
      wanted,
      listing.trials ?? false,
    ]),
  )

export const listBySystem = (
  tx: Tx,
  workspaceId: string,
  slug: string,
  userId: string,
  listing: Listing,
): Promise<ExecutionSummary[]> =>
  readNewest(rangeOf(listing), (from, to, wanted) =>
    rowsInOrder<ExecutionSummary>(
      tx,
      `select ${summaryColumns} from executions where workspace_id = $1 and system_slug = $2 and started_by = $3
         and execution_id >= $4 and execution_id < $5 and created_at >= $6 and created_at < $7
       order by execution_id ${listing.oldestFirst ? 'asc' : 'desc'} limit $8`,
      [workspaceId, slug, userId, from, to, listing.from ?? '-infinity', listing.to ?? 'infinity', wanted],
    ),
  )

export type ExecutionOwner = {
  workflow_id: string | null
  system_slug: string | null
  started_by: string | null
  trigger_kind: string
  trigger_id: string | null
  definition_ref: string
}

export const findOwner = (tx: Tx, workspaceId: string, executionId: string): Promise<ExecutionOwner | undefined> =>
  tx.maybe<ExecutionOwner>(
    'select workflow_id, system_slug, started_by, trigger_kind, trigger_id, definition_ref from executions where workspace_id = $1 and execution_id = $2',
    [workspaceId, executionId],
  )

export type ExecutionOwnerFor = ExecutionOwner & {
  owner_id: string | null
  role: 'editor' | 'member' | 'viewer' | null
}

/** As above, with the rights of a person in the workflow. Every operation on an execution needs both. */
export const findOwnerFor = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  userId: string,
): Promise<ExecutionOwnerFor | undefined> =>
  tx.maybe<ExecutionOwnerFor>(
    `select e.workflow_id, e.system_slug, e.started_by, e.trigger_kind, e.trigger_id, e.definition_ref, w.owner_id,
       (select min(m.role) from workflow_people m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $3) as role
     from executions e
     left join workflows w on w.workspace_id = e.workspace_id and w.workflow_id = e.workflow_id and w.deleted_at is null
     where e.workspace_id = $1 and e.execution_id = $2`,
    [workspaceId, executionId, userId],
  )

export const readStatus = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
): Promise<{ status: ExecutionSummary['status'] }> =>
  tx.row('select status from executions where workspace_id = $1 and execution_id = $2', [workspaceId, executionId])
