import { insertTrial } from '#areas/trials/service'
import { planTrial } from '#engine/trying/plan'
import type { Definition } from '#model/definition'
import type { Kinds } from '#model/graph'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'

/** Stores the definition of a run without live effects: the version with recorded answers instead of nodes that act. */
export async function insertPlanned(
  ctx: Context,
  run: {
    run_id: string
    workflow_id: string
    version_id: string
    effects: 'mock' | 'pinned'
    liveModels: boolean
    kinds: Kinds
  },
): Promise<void> {
  const workspaceId = ctx.workspace.workspace_id
  const { definition: draft } = await ctx.tx.row<{ definition: Definition | null }>(
    'select definition_of_version($1, $2) as definition',
    [workspaceId, run.version_id],
  )
  if (!draft) throw problem('not_found')
  const plan = planTrial({
    definition: draft,
    effects: 'mock',
    liveModels: run.liveModels,
    record: run.effects,
    pinned: new Map(),
    recorded: new Map(),
    descriptorOf: (type) => run.kinds.get(type),
  })
  await insertTrial(ctx.tx, workspaceId, {
    trial_id: run.run_id,
    workflow_id: run.workflow_id,
    draft,
    definition: plan.definition,
    plan: plan.nodes,
    effects: run.effects,
    created_by: ctx.person.user_id,
  })
}
