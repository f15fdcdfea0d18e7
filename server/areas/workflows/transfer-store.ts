import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { transferList } from './schema.ts'

export type TransferRow = {
  workflow_id: string
  workflow_name: string
  from_user_id: string
  to_user_id: string
  created_at: Date
}

const columns = `t.workflow_id, w.name as workflow_name, t.from_user as from_user_id, t.to_user as to_user_id, t.created_at`
const tables = `workflow_transfers t
  join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id and w.deleted_at is null`

export const findTransfer = (tx: Tx, workspaceId: string, workflowId: string): Promise<TransferRow | undefined> =>
  tx.maybe<TransferRow>(`select ${columns} from ${tables} where t.workspace_id = $1 and t.workflow_id = $2`, [
    workspaceId,
    workflowId,
  ])

/** Lists the pending offers to this person. */
export const listTransfersTo = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<TransferRow>(tx, transferList, asked, {
    sql: `select ${columns} from ${tables} where t.workspace_id = $1 and t.to_user = $2`,
    values: [workspaceId, userId],
  })

export const insertTransfer = (
  tx: Tx,
  workspaceId: string,
  { workflowId, from, to }: { workflowId: string; from: string; to: string },
): Promise<number> =>
  tx.count('insert into workflow_transfers (workspace_id, workflow_id, from_user, to_user) values ($1, $2, $3, $4)', [
    workspaceId,
    workflowId,
    from,
    to,
  ])

export const deleteTransfer = (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  tx.count('delete from workflow_transfers where workspace_id = $1 and workflow_id = $2', [workspaceId, workflowId])

/** Changes the owner. The workflow runs again after a person with the right has activated a version. */
export const giveTo = (tx: Tx, workspaceId: string, workflowId: string, userId: string): Promise<number> =>
  tx.count(
    `with cleared as (
       delete from workflow_members where workspace_id = $1 and workflow_id = $2 and user_id = $3)
     update workflows w set owner_id = $3, updated_at = now(), activation_required = exists (select from workflow_versions v
       where v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active)
     where w.workspace_id = $1 and w.workflow_id = $2`,
    [workspaceId, workflowId, userId],
  )

/** Counts what starts the workflow automatically, to tell the new owner what stops until a version is activated. */
export const countStarters = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
): Promise<{ schedules: number; webhook_tokens: number; embed_tokens: number; jobs: number }> =>
  tx.row(
    `select (select count(*)::integer from schedules where workspace_id = $1 and workflow_id = $2) as schedules,
       (select count(*)::integer from webhook_tokens where workspace_id = $1 and workflow_id = $2 and enabled) as webhook_tokens,
       (select count(*)::integer from embed_tokens where workspace_id = $1 and workflow_id = $2 and enabled) as embed_tokens,
       (select count(*)::integer from enrichment_jobs where workspace_id = $1 and workflow_id = $2) as jobs`,
    [workspaceId, workflowId],
  )
