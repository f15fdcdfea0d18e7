import type { Context } from '#platform/http/context'
import type { Activity, Workflow } from './schema.ts'

type Last = NonNullable<Activity['last_run']>
type Row = Pick<Activity, 'next_run_at' | 'starts'> & { workflow_id: string } & {
  [Key in keyof Last]: Last[Key] | null
}

/**
 * Adds the last execution, the next time and what starts each workflow to a page of workflows, in one statement. The
 * last execution is one index lookup per workflow, regardless of the number of executions of the workflow or its jobs.
 */
export async function withActivity(ctx: Context, workflows: Workflow[]): Promise<Workflow[]> {
  const seen = workflows.filter(({ kind, role }) => kind === 'user' && role !== null)
  if (seen.length === 0) return workflows.map((workflow) => ({ ...workflow, activity: null }))
  const rows = await ctx.tx.rows<Row>(
    `select w.workflow_id, last.execution_id, last.status, last.created_at, last.finished_at,
       (select min(s.next_run_at) from schedules s
        where s.workspace_id = $1 and s.workflow_id = w.workflow_id and s.enabled) as next_run_at,
       array_remove(array[
         case when exists (select from schedules s where s.workspace_id = $1 and s.workflow_id = w.workflow_id and s.enabled
           and s.next_run_at is not null) then 'schedule' end,
         case when exists (select from webhook_tokens t where t.workspace_id = $1 and t.workflow_id = w.workflow_id and t.enabled
           and (t.expires_at is null or t.expires_at > now())) then 'webhook' end,
         case when exists (select from embed_tokens t where t.workspace_id = $1 and t.workflow_id = w.workflow_id and t.enabled) then 'embed' end,
         case when jsonb_array_length(coalesce(w.settings -> 'on_event', '[]')) > 0 then 'event' end,
         case when exists (select from service_triggers t where t.workspace_id = $1 and t.workflow_id = w.workflow_id and t.enabled) then 'service' end,
         case when exists (select from template_workflows t where t.workspace_id = $1 and t.workflow_id = w.workflow_id) then 'template' end,
         case when exists (select from enrichment_jobs j where j.workspace_id = $1 and j.workflow_id = w.workflow_id) then 'job' end], null) as starts
     from workflows w left join lateral (
       select e.execution_id, e.status, e.created_at, e.finished_at from executions e
       where e.workspace_id = $1 and e.workflow_id = w.workflow_id and e.trigger_kind <> 'job' and e.trigger_kind <> 'trial'
       order by e.execution_id desc limit 1) last on true
     where w.workspace_id = $1 and w.workflow_id = any ($2)`,
    [ctx.workspace.workspace_id, seen.map(({ workflow_id }) => workflow_id)],
  )
  const byId = new Map(rows.map((row) => [row.workflow_id, activityOf(row)]))
  return workflows.map((workflow) => ({ ...workflow, activity: byId.get(workflow.workflow_id) ?? null }))
}

const activityOf = ({ execution_id, status, created_at, finished_at, next_run_at, starts }: Row): Activity => ({
  last_run: execution_id === null ? null : { execution_id, status: status!, created_at: created_at!, finished_at },
  next_run_at,
  starts,
})
