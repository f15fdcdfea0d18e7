import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { fromWire } from '#platform/ids'
import * as store from './store.ts'

// Who may run a stored workflow: its owner and its members, whether they ask for it or let another workflow do so.

export async function mayRun(tx: Tx, workspaceId: string, workflowId: string, userId: string): Promise<boolean> {
  const rights = await store.findRights(tx, workspaceId, workflowId, userId)
  return rights !== undefined && (rights.owner_id === userId || rights.role === 'member')
}

/** Nobody runs through a workflow of their own what they may not run themselves. */
export async function mayRunNamed(ctx: Context, system: ReadonlyMap<string, unknown>, named: string): Promise<boolean> {
  if (system.has(named)) return true
  const workflowId = fromWire('wf', named)
  return workflowId !== undefined && mayRun(ctx.tx, ctx.workspace.workspace_id, workflowId, ctx.person.user_id)
}

/**
 * In whose name an execution starts others: the owner of its workflow, or of the job whose definition it is, and whoever
 * started it where it belongs to neither. Never whoever happened to start a workflow of somebody else, who wrote it.
 */
export async function findPrincipal(tx: Tx, workspaceId: string, executionId: string): Promise<string | null> {
  const row = await tx.maybe<{ user_id: string | null }>(
    `select case when e.workflow_id is not null then w.owner_id else coalesce(j.owner_id, e.started_by) end as user_id
     from executions e
     left join workflows w on w.workspace_id = e.workspace_id and w.workflow_id = e.workflow_id
     left join job_definitions d on d.workspace_id = e.workspace_id
       and d.definition_id = case when e.definition_ref like 'adhoc:%' then substr(e.definition_ref, 7)::uuid end
     left join enrichment_jobs j on j.workspace_id = d.workspace_id and j.job_id = d.job_id
     where e.workspace_id = $1 and e.execution_id = $2`,
    [workspaceId, executionId],
  )
  return row?.user_id ?? null
}
