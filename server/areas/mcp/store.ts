import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'

export type ToolRow = { workflow_id: string; name: string; description: string | null; inputs: Json | null }

/** Workflows that are chosen as tools, have an active version, and that this person may run. */
export const listToolWorkflows = (tx: Tx, workspaceId: string, userId: string, most: number): Promise<ToolRow[]> =>
  tx.rows<ToolRow>(
    `select w.workflow_id, w.name, w.description, v.definition -> 'inputs' as inputs from workflows w
     join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active
     where w.workspace_id = $1 and w.deleted_at is null and not w.activation_required
       and (w.settings ->> 'mcp_tool')::boolean and (w.owner_id = $2 or exists (select from workflow_people m
         where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $2
           and m.role in ('editor', 'member')))
     order by w.workflow_id limit $3`,
    [workspaceId, userId, most],
  )
