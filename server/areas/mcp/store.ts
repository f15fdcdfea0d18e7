import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'

export type ToolWorkflow = { workflow_id: string; name: string }
export type ToolRow = ToolWorkflow & { description: string | null; inputs: Json | null }

/** Workflows that are selected as tools, have an active version, and may be run by this person. */
const CHOSEN = `from workflows w
     join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active
     where w.workspace_id = $1 and w.deleted_at is null and not w.activation_required
       and (w.settings ->> 'mcp_tool')::boolean and (w.owner_id = $2 or exists (select from workflow_people m
         where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $2
           and m.role in ('editor', 'member')))`

/** Lists the tools without their schemas, which may have a megabyte each. */
export const listToolNames = (tx: Tx, workspaceId: string, userId: string): Promise<ToolWorkflow[]> =>
  tx.rows<ToolWorkflow>(`select w.workflow_id, w.name ${CHOSEN} order by w.workflow_id limit 1000`, [
    workspaceId,
    userId,
  ])

/** Lists a page of tools. A schema of more than `maxBytes` is omitted. */
export const listTools = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  page: { after: string | null; limit: number; maxBytes: number },
): Promise<ToolRow[]> =>
  tx.rows<ToolRow>(
    `select w.workflow_id, w.name, w.description,
       case when length((v.definition -> 'inputs')::text) <= $5 then v.definition -> 'inputs' end as inputs
     ${CHOSEN} and ($3::uuid is null or w.workflow_id > $3) order by w.workflow_id limit $4`,
    [workspaceId, userId, page.after, page.limit, page.maxBytes],
  )
