import type { Context } from '#platform/http/context'
import { listToolNames, type ToolWorkflow } from './store.ts'

/** The workflows that the caller's programs have as tools now. */
export const listWorkflowTools = (ctx: Context): Promise<ToolWorkflow[]> =>
  listToolNames(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id)
