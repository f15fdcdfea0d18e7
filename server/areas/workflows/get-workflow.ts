import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ById, Deps } from './dependencies.ts'
import type { Workflow } from './schema.ts'
import { findWorkflow } from './store.ts'
import type { SystemWorkflow } from './system.ts'

export const systemView = (workflow: SystemWorkflow): Workflow => ({
  workflow_id: workflow.slug,
  kind: 'system',
  name: workflow.name,
  description: workflow.description,
  owner_id: null,
  members: [],
  teams: [],
  role: null,
  active_version_id: null,
  activation_required: false,
  paused_at: null,
  pending_owner_id: null,
  tags: [],
  settings: {},
  created_at: null,
  updated_at: null,
})

export async function getWorkflow(deps: Deps, ctx: Context, { workflow_id }: ById): Promise<Workflow> {
  const known = deps.system.get(workflow_id)
  if (known) return { ...systemView(known), definition: known.definition as never }
  const workflow = await findWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  if (!workflow) throw problem('not_found')
  return workflow
}
