import type { Context } from '#platform/http/context'
import { listToolNames, type ToolWorkflow } from './store.ts'

/** Lists the workflows that programs of the caller can currently use as tools. */
export const listWorkflowTools = (ctx: Context): Promise<ToolWorkflow[]> =>
  listToolNames(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id)
