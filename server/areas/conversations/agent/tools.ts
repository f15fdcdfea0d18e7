import { type AgentTool, withDistinctNames } from '#engine/agents/tools'
import type { Database, Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { datasetTool } from './dataset-tool.ts'
import { type HouseToolParts, houseTools } from './house-tools.ts'
import { knowledgeTool } from './knowledge-tool.ts'
import type { Scene } from './scene.ts'
import { serviceTool } from './service-tool.ts'
import type { AgentPorts } from './types.ts'
import { type WorkflowToolParts, workflowTool } from './workflow-tool.ts'

export type ToolParts = HouseToolParts & WorkflowToolParts & { db: Database; ports: AgentPorts }

/** A template acts with the rights of its owner. An owner who has left, or is only a guest, gives it no rights. */
const isMember = async (tx: Tx, workspaceId: string, userId: string): Promise<boolean> =>
  (await tx.maybe(`select from memberships where workspace_id = $1 and user_id = $2 and role <> 'guest'`, [
    workspaceId,
    userId,
  ])) !== undefined

/** Returns the tools of the assistant for this message. Rights are checked now, and again when a tool is called. */
export async function toolsOf(parts: ToolParts, scene: Scene): Promise<AgentTool[]> {
  const { db, ports } = parts
  const { voice, offers, thread } = scene
  const { workspace_id: workspaceId } = thread
  const tools: AgentTool[] = houseTools(parts, scene)
  const lends = await db.tenant({ workspaceId, userId: null }, (tx) => isMember(tx, workspaceId, voice.owner_id))
  if (lends && voice.knowledge_ids.length > 0) tools.push(knowledgeTool(db, ports, scene))
  for (const offer of offers) {
    const grant = voice.tools.find(
      (tool) => 'workflow_id' in tool && tool.workflow_id === toWire('wf', offer.workflow_id),
    )
    tools.push(workflowTool(parts, scene, offer, grant))
  }
  if (lends)
    for (const grant of voice.tools) {
      const tool =
        'service' in grant
          ? await serviceTool(ports, scene, grant)
          : 'dataset_id' in grant
            ? await datasetTool(db, ports, scene, grant)
            : undefined
      if (tool) tools.push(tool)
    }
  return withDistinctNames(tools)
}
