import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { CredentialUsage } from './schema.ts'
import type { ById } from './service.ts'

/** Returns what names the credential, as far as the caller may see it, for a check before revoking it. */
export async function getCredentialUsage(ctx: Context, { credential_id }: ById): Promise<CredentialUsage> {
  const { workspace_id } = ctx.workspace
  const named = toWire('cred', credential_id)
  const workflows = await ctx.tx.rows<CredentialUsage['workflows'][number]>(
    `select w.workflow_id, w.name, json_agg(json_build_object('version_id', v.version_id, 'number', v.number, 'active', v.active)
       order by v.number desc) as versions
     from workflows w join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id
     where w.workspace_id = $1 and w.deleted_at is null and strpos((v.definition -> 'nodes')::text, $2) > 0
     group by w.workflow_id, w.name order by w.name, w.workflow_id`,
    [workspace_id, named],
  )
  const jobs = await ctx.tx.rows<CredentialUsage['jobs'][number]>(
    `select j.job_id, j.name from enrichment_jobs j
     left join job_definitions d on d.workspace_id = j.workspace_id and d.definition_id = j.definition_id
     where j.workspace_id = $1 and (strpos((d.definition -> 'nodes')::text, $2) > 0 or exists (
       select from workflow_versions v where v.workspace_id = j.workspace_id and v.workflow_id = j.workflow_id and v.active
         and strpos((v.definition -> 'nodes')::text, $2) > 0))
       and (select role from roles_in_jobs(array[$3::uuid], array[$1::uuid], array[j.job_id])) <> ''
     order by j.name, j.job_id`,
    [workspace_id, named, ctx.person.user_id],
  )
  const templates = await ctx.tx.rows<CredentialUsage['templates'][number]>(
    `select template_id, name from templates where workspace_id = $1 and strpos(llm::text, $2) > 0 order by name, template_id`,
    [workspace_id, named],
  )
  return { workflows, jobs, templates }
}
