import { type AgentTool, withDistinctNames } from '#engine/agents/tools'
import type { Database, Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { type BuiltInToolParts, builtInTools } from './built-in-tools.ts'
import { datasetTool } from './dataset-tool.ts'
import { knowledgeTool } from './knowledge-tool.ts'
import { serviceTool } from './service-tool.ts'
import type { TurnContext } from './turn-context.ts'
import type { AgentPorts } from './types.ts'
import { type WorkflowToolParts, workflowTool } from './workflow-tool.ts'

export type ToolParts = BuiltInToolParts & WorkflowToolParts & { db: Database; ports: AgentPorts }

/** A template acts with the rights of its owner. An owner who has left, or is only a guest, gives it no rights. */
const isMember = async (tx: Tx, workspaceId: string, userId: string): Promise<boolean> =>
  (await tx.maybe(`select from memberships where workspace_id = $1 and user_id = $2 and role <> 'guest'`, [
    workspaceId,
    userId,
  ])) !== undefined

/** Returns the tools of the assistant for this message. Rights are checked now, and again when a tool is called. */
export async function toolsOf(parts: ToolParts, context: TurnContext): Promise<AgentTool[]> {
  const { db, ports } = parts
  const { voice, offers, thread } = context
  const { workspace_id: workspaceId } = thread
  const tools: AgentTool[] = builtInTools(parts, context)
  const lends = await db.tenant({ workspaceId, userId: null }, (tx) => isMember(tx, workspaceId, voice.owner_id))
  if (lends && voice.knowledge_ids.length > 0) tools.push(knowledgeTool(db, ports, context))
  for (const offer of offers) {
    const grant = voice.tools.find(
      (tool) => 'workflow_id' in tool && tool.workflow_id === toWire('wf', offer.workflow_id),
    )
    tools.push(workflowTool(parts, context, offer, grant))
  }
  if (lends)
    for (const grant of voice.tools) {
      const tool =
        'service' in grant
          ? await serviceTool(ports, context, grant)
          : 'dataset_id' in grant
            ? await datasetTool(db, ports, context, grant)
            : undefined
      if (tool) tools.push(tool)
    }
  return withDistinctNames(tools)
}
