import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'
import * as store from './store.ts'

// Who may run a stored workflow: its owner and its members, directly or through another workflow.

export async function mayRun(tx: Tx, workspaceId: string, workflowId: string, userId: string): Promise<boolean> {
  const rights = await store.findRights(tx, workspaceId, workflowId, userId)
  return rights !== undefined && (rights.owner_id === userId || rights.role === 'member' || rights.role === 'editor')
}

export async function maySee(tx: Tx, workspaceId: string, workflowId: string, userId: string): Promise<boolean> {
  const rights = await store.findRights(tx, workspaceId, workflowId, userId)
  return rights !== undefined && (rights.owner_id === userId || rights.role !== null)
}

export type Principal = { user_id: string; role: WorkspaceRole }

/**
 * Returns the person for whom an execution acts now: the person who activated its version or wrote its definition, as
 * stored when it started. If that person has left the workspace, the owner of the workflow or job. Rows without a
 * principal were written by an older release. Undefined if none of these people is in the workspace. A trial acts only
 * for the person who started it.
 */
export const findPrincipal = (tx: Tx, workspaceId: string, executionId: string): Promise<Principal | undefined> =>
  tx.maybe<Principal>(
    `select m.user_id, m.role from executions e
     left join workflows w on w.workspace_id = e.workspace_id and w.workflow_id = e.workflow_id
     left join job_definitions d on d.workspace_id = e.workspace_id
       and d.definition_id = case when e.definition_ref like 'adhoc:%' then substr(e.definition_ref, 7)::uuid end
     left join enrichment_jobs j on j.workspace_id = d.workspace_id and j.job_id = d.job_id
     cross join lateral unnest(array[
       coalesce(e.principal_id, principal_of_version(e.workspace_id, e.version_id), d.created_by),
       case when e.trigger_kind <> 'trial' then w.owner_id end, j.owner_id,
       case when e.workflow_id is null and d.job_id is null then e.started_by end]) with ordinality as p (user_id, position)
     join memberships m on m.workspace_id = e.workspace_id and m.user_id = p.user_id
     where e.workspace_id = $1 and e.execution_id = $2
     order by p.position limit 1`,
    [workspaceId, executionId],
  )
