import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { ById } from './dependencies.ts'
import type { WorkflowUse } from './schema.ts'

const MAX_SHOWN = 200

/** Returns what calls or offers the workflow. A guest sees only what they are a member of. */
export async function getWorkflowUse(ctx: Context, { workflow_id }: ById): Promise<WorkflowUse> {
  const { workspace_id, role } = ctx.workspace
  const isGuest = role === 'guest'
  const isSeen = `(not $3::boolean or w.owner_id = $4 or exists (select from workflow_people p
    where p.workspace_id = w.workspace_id and p.workflow_id = w.workflow_id and p.user_id = $4))`
  const person = [isGuest, ctx.person.user_id]
  const named = toWire('wf', workflow_id)
  const workflows = await ctx.tx.rows<WorkflowUse['workflows'][number]>(
    `select w.workflow_id, w.name from workflows w join workflow_versions v
       on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active
     where w.workspace_id = $1 and w.deleted_at is null and strpos((v.definition -> 'nodes')::text, $2) > 0 and ${isSeen}
     order by w.name, w.workflow_id limit ${MAX_SHOWN}`,
    [workspace_id, named, ...person],
  )
  const error_of = await ctx.tx.rows<WorkflowUse['error_of'][number]>(
    `select w.workflow_id, w.name from workflows w
     where w.workspace_id = $1 and w.deleted_at is null and w.settings ->> 'error_workflow_id' = $2 and ${isSeen}
     order by w.name, w.workflow_id limit ${MAX_SHOWN}`,
    [workspace_id, workflow_id, ...person],
  )
  const jobs = await ctx.tx.rows<WorkflowUse['jobs'][number]>(
    `select j.job_id, j.name from enrichment_jobs j where j.workspace_id = $1 and j.workflow_id = $2
       and (select role from roles_in_jobs(array[$3::uuid], array[$1::uuid], array[j.job_id])) <> ''
     order by j.name, j.job_id limit ${MAX_SHOWN}`,
    [workspace_id, workflow_id, ctx.person.user_id],
  )
  if (isGuest) return { workflows, error_of, jobs, templates: [], suites: [] }
  const templates = await ctx.tx.rows<WorkflowUse['templates'][number]>(
    `select t.template_id, t.name from templates t
     where t.workspace_id = $1 and exists (select from template_workflows w
       where w.workspace_id = t.workspace_id and w.template_id = t.template_id and w.workflow_id = $2)
     order by t.name, t.template_id limit ${MAX_SHOWN}`,
    [workspace_id, workflow_id],
  )
  const suites = await ctx.tx.rows<WorkflowUse['suites'][number]>(
    `select s.suite_id, s.name from suites s where s.workspace_id = $1 and s.workflow_id = $2
     order by s.name, s.suite_id limit ${MAX_SHOWN}`,
    [workspace_id, workflow_id],
  )
  return { workflows, error_of, jobs, templates, suites }
}
