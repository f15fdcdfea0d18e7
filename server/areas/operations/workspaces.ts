import { z } from 'zod'
import { operator } from '#platform/access/rules'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { defineList, flag, type ListInput, readList } from '#platform/http/list'
import { type AnyRoute, routes } from '#platform/http/route'
import { id, page, timestamp } from '#platform/http/schema'
import { toWire } from '#platform/ids'

// What the operator of many tenants needs: which workspace uses how much, and to suspend, trust and delete workspaces.

const figure = (about: string) => z.number().meta({ description: about })

const TenantWorkspace = z
  .object({
    workspace_id: id('ws'),
    name: z.string(),
    company_id: id('co'),
    company_name: z.string().describe('The name of its company'),
    owners: z
      .array(z.object({ user_id: id('usr'), name: z.string(), email: z.string() }))
      .describe('The owners of the workspace'),
    members: figure('People in the workspace, guests included').int(),
    runs_this_month: figure('Executions started in the calendar month (UTC)').int(),
    storage_bytes: figure('Bytes that count towards the quota `storage_bytes`').int(),
    records: figure('Records in datasets').int(),
    model_tokens_this_month: figure("Tokens of the installation's language models in the calendar month (UTC)").int(),
    model_cost_this_month: figure('Their cost in US dollars, as far as their prices are known'),
    trusted: z.boolean().describe('May mail people outside without the daily limit'),
    suspended: z.boolean().describe('Whether an operator has suspended the workspace'),
    suspended_at: timestamp().nullable(),
    suspension_reason: z.string().nullable().describe('Shown to the people of the workspace'),
    created_at: timestamp(),
  })
  .meta({ id: 'TenantWorkspace' })
type TenantWorkspace = z.input<typeof TenantWorkspace>

const WorkspaceTrust = z.object({ workspace_id: id('ws'), trusted: z.boolean() }).meta({ id: 'WorkspaceTrust' })

const WorkspaceSuspension = z
  .object({
    workspace_id: id('ws'),
    suspended: z.boolean().describe('Whether the workspace is suspended'),
    reason: z.string().nullable().describe('Shown to the people of the workspace'),
  })
  .meta({ id: 'WorkspaceSuspension' })

const NewSuspension = z.strictObject({
  suspended: z.boolean().describe('`false` ends the suspension'),
  reason: z.string().trim().min(1).max(500).optional().describe('Shown to the people of the workspace'),
})

export const tenantList = defineList({
  id: 'workspace_id',
  search: ['name', 'company_name'],
  sort: {
    created_at: 'id',
    name: 'text',
    members: 'number',
    runs_this_month: 'number',
    storage_bytes: 'number',
    records: 'number',
    model_tokens_this_month: 'number',
    model_cost_this_month: 'number',
  },
  order: '-created_at',
  filters: { suspended: flag('Only suspended workspaces, or only others') },
})

/** Usage counters are one row each, and days of usage are summed by their index, so a page costs no read of executions. */
export const TENANTS = `select w.workspace_id, w.name, w.company_id, c.name as company_name, w.created_at,
    coalesce((select json_agg(json_build_object('user_id', u.user_id, 'name', u.name, 'email', u.email) order by u.user_id)
      from memberships m join users u using (user_id) where m.workspace_id = w.workspace_id and m.role = 'owner'), '[]') as owners,
    (select count(*)::int from memberships m where m.workspace_id = w.workspace_id) as members,
    greatest(coalesce(runs.used, 0), 0)::float8 as runs_this_month,
    greatest(coalesce(stored.used, 0), 0)::float8 as storage_bytes,
    greatest(coalesce(records.used, 0), 0)::float8 as records,
    coalesce(models.tokens, 0)::float8 as model_tokens_this_month,
    coalesce(models.cost, 0)::float8 as model_cost_this_month,
    t.workspace_id is not null as trusted, s.workspace_id is not null as suspended, s.suspended_at, s.reason as suspension_reason
  from workspaces w join companies c using (company_id)
  left join workspace_trust t on t.workspace_id = w.workspace_id
  left join workspace_suspensions s on s.workspace_id = w.workspace_id
  left join usage_counters runs on runs.workspace_id = w.workspace_id and runs.quota = 'runs_per_month'
    and runs.period = to_char(now() at time zone 'UTC', 'YYYY-MM')
  left join usage_counters stored on stored.workspace_id = w.workspace_id and stored.quota = 'storage_bytes' and stored.period = ''
  left join usage_counters records on records.workspace_id = w.workspace_id and records.quota = 'records' and records.period = ''
  left join lateral (select sum(d.input_tokens + d.output_tokens) as tokens, sum(d.cost) as cost from usage_days d
    where d.workspace_id = w.workspace_id and d.credential_id is null
      and d.day >= date_trunc('month', now() at time zone 'UTC')::date) models on true`

type ById = { workspace_id: string }

async function requireWorkspace(tx: Tx, workspaceId: string): Promise<{ name: string }> {
  const found = await tx.maybe<{ name: string }>('select name from workspaces where workspace_id = $1', [workspaceId])
  if (!found) throw problem('not_found')
  return found
}

const listTenants = (ctx: Context, asked: ListInput) =>
  ctx.db.operator(async (tx) => {
    await recordAudit(ctx, tx, { action: 'operator.listed', subject: 'workspaces', workspaceId: null })
    return readList<TenantWorkspace>(tx, tenantList, asked, { sql: TENANTS, values: [] })
  })

/** Lets an operator exempt a workspace from the daily limit for mail to people outside it. */
async function trustWorkspace(ctx: Context, { workspace_id, trusted }: ById & { trusted: boolean }) {
  await ctx.db.operator(async (tx) => {
    await requireWorkspace(tx, workspace_id)
    await tx.count(
      trusted
        ? 'insert into workspace_trust (workspace_id, trusted_by) values ($1, $2) on conflict do nothing'
        : 'delete from workspace_trust where workspace_id = $1 and $2::uuid is not null',
      [workspace_id, ctx.person.user_id],
    )
    await recordAudit(ctx, tx, {
      action: trusted ? 'workspace.trusted' : 'workspace.distrusted',
      subject: toWire('ws', workspace_id),
      workspaceId: workspace_id,
    })
  })
  return { workspace_id, trusted }
}

async function suspendWorkspace(ctx: Context, input: ById & z.output<typeof NewSuspension>) {
  const { workspace_id, suspended } = input
  const reason = suspended ? (input.reason ?? null) : null
  if (suspended && reason === null) throw invalid([{ path: '/reason', message: 'is required' }])
  await ctx.db.operator(async (tx) => {
    await requireWorkspace(tx, workspace_id)
    if (suspended)
      await tx.count(
        `insert into workspace_suspensions (workspace_id, reason, suspended_by) values ($1, $2, $3)
         on conflict (workspace_id) do update set reason = excluded.reason`,
        [workspace_id, reason, ctx.person.user_id],
      )
    else await tx.count('delete from workspace_suspensions where workspace_id = $1', [workspace_id])
    await recordAudit(ctx, tx, {
      action: suspended ? 'workspace.suspended' : 'workspace.resumed',
      subject: toWire('ws', workspace_id),
      workspaceId: workspace_id,
      ...(reason !== null && { data: { reason } }),
    })
  })
  return { workspace_id, suspended, reason }
}

/** Deletes a workspace as its owner would. The database refuses to delete one that is not suspended. */
async function deleteTenant(ctx: Context, { workspace_id }: ById): Promise<void> {
  await ctx.db.operator(async (tx) => {
    const { name } = await requireWorkspace(tx, workspace_id)
    if ((await tx.count('delete from workspaces where workspace_id = $1', [workspace_id])) === 0)
      throw problem('conflict', 'Suspend the workspace first.')
    await recordAudit(ctx, tx, {
      action: 'workspace.deleted',
      subject: toWire('ws', workspace_id),
      workspaceId: null,
      data: { name },
    })
  })
}

export const tenantRoutes = (): AnyRoute[] =>
  routes(
    'Operations',
    {
      listTenants: ['GET', '/api/operations/workspaces', operator],
      trustWorkspace: ['PUT', '/api/operations/workspaces/:workspace_id/trust', operator],
      suspendWorkspace: ['PUT', '/api/operations/workspaces/:workspace_id/suspension', operator],
      deleteTenant: ['DELETE', '/api/operations/workspaces/:workspace_id', operator],
    },
    {
      listTenants: {
        summary: 'All workspaces with their owners and what they use',
        description:
          'Sort by `-model_cost_this_month`, `-runs_this_month` or `-storage_bytes` to find the workspace that uses most. Recorded in the audit log.',
        query: tenantList.query,
        answer: page(TenantWorkspace),
        transaction: false,
        extension: true,
        run: listTenants,
      },
      trustWorkspace: {
        summary: 'Set whether a workspace may mail people outside without the daily limit',
        description:
          'Recorded in the audit log of the workspace. The quota `mails_per_minute` applies to every workspace.',
        body: z.strictObject({ trusted: z.boolean() }),
        answer: WorkspaceTrust,
        transaction: false,
        extension: true,
        run: trustWorkspace,
      },
      suspendWorkspace: {
        summary: 'Suspend a workspace, or end its suspension',
        description:
          'Within a second a suspended workspace starts no executions, and its running executions make no requests, send no mail and use no language model of the installation (`quota_exceeded` with the reason). Its people can still sign in, read and export. Recorded in the audit log of the workspace.',
        body: NewSuspension,
        answer: WorkspaceSuspension,
        transaction: false,
        extension: true,
        run: suspendWorkspace,
      },
      deleteTenant: {
        summary: 'Delete a suspended workspace and everything in it; its company and its people stay',
        description: 'A workspace that is not suspended gives 409. One entry remains in the audit log of operators.',
        status: 204,
        transaction: false,
        extension: true,
        run: deleteTenant,
      },
    },
  )
