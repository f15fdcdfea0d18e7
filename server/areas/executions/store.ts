import type { Tx } from '#platform/db/pool'
import type { ExecutionSummary } from './schema.ts'

const columns = `execution_id, coalesce(workflow_id::text, system_slug) as workflow_id, version_id, status, error, waiting_for,
  json_build_object('kind', trigger_kind, 'id', trigger_id) as trigger, started_by, retry_of, created_at, started_at, finished_at`

export type Filter = {
  workflowId?: string | null
  systemSlug?: string | null
  startedBy?: string | null
  status?: string[] | null
  from?: Date | null
  to?: Date | null
}

export const listByWorkflow = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  before: string | null,
  limit: number,
): Promise<ExecutionSummary[]> =>
  tx.rows<ExecutionSummary>(
    `select ${columns} from executions where workspace_id = $1 and workflow_id = $2 and ($3::uuid is null or execution_id < $3)
     order by execution_id desc limit $4`,
    [workspaceId, workflowId, before, limit + 1],
  )

export const listBySystem = (
  tx: Tx,
  workspaceId: string,
  slug: string,
  userId: string,
  before: string | null,
  limit: number,
): Promise<ExecutionSummary[]> =>
  tx.rows<ExecutionSummary>(
    `select ${columns} from executions where workspace_id = $1 and system_slug = $2 and started_by = $3 and ($4::uuid is null or execution_id < $4)
     order by execution_id desc limit $5`,
    [workspaceId, slug, userId, before, limit + 1],
  )

/**
 * What this person sees: executions of workflows they own or are members of, and those they started. The workflows are
 * found first; the primary key then walks the executions newest first.
 */
export const searchExecutions = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  filter: Filter,
  before: string | null,
  limit: number,
): Promise<ExecutionSummary[]> =>
  tx.rows<ExecutionSummary>(
    `with mine as materialized (
       select w.workflow_id from workflows w where w.workspace_id = $1 and w.owner_id = $2
       union select m.workflow_id from workflow_members m where m.workspace_id = $1 and m.user_id = $2)
     select ${columns} from executions
     where workspace_id = $1 and ($3::uuid is null or execution_id < $3)
       and (started_by = $2 or workflow_id in (select workflow_id from mine))
       and ($4::uuid is null or workflow_id = $4) and ($5::text is null or system_slug = $5)
       and ($6::text[] is null or status = any ($6))
       and ($7::timestamptz is null or created_at >= $7) and ($8::timestamptz is null or created_at < $8)
     order by execution_id desc limit $9`,
    [
      workspaceId,
      userId,
      before,
      filter.workflowId ?? null,
      filter.systemSlug ?? null,
      filter.status ?? null,
      filter.from ?? null,
      filter.to ?? null,
      limit + 1,
    ],
  )

export type Whose = {
  workflow_id: string | null
  system_slug: string | null
  started_by: string | null
  trigger_kind: string
  trigger_id: string | null
  definition_ref: string
}

export const findWhose = (tx: Tx, workspaceId: string, executionId: string): Promise<Whose | undefined> =>
  tx.maybe<Whose>(
    'select workflow_id, system_slug, started_by, trigger_kind, trigger_id, definition_ref from executions where workspace_id = $1 and execution_id = $2',
    [workspaceId, executionId],
  )

export const hasEnded = async (tx: Tx, workspaceId: string, executionId: string): Promise<boolean> =>
  (await tx.maybe('select from executions where workspace_id = $1 and execution_id = $2 and finished_at is not null', [
    workspaceId,
    executionId,
  ])) !== undefined
