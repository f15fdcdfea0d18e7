import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { passesLimit, periodOf, quotaExceeded } from './counting.ts'
import {
  DEFAULT_DESTINATIONS,
  DEFAULT_DOCUMENTS,
  type Plan,
  type Quotas as PlanQuotas,
  type QuotaName,
} from './plan-schema.ts'

// The limit of each quota in a plan, and how much of the quota a workspace uses.

/** Quotas counted in `usage_counters`. Members, destinations and documents are counted in their own tables. */
export type CountedQuota = Exclude<QuotaName, 'members' | 'event_destinations' | 'knowledge_documents'>

const DEFAULTS: Partial<Record<QuotaName, number>> = {
  event_destinations: DEFAULT_DESTINATIONS,
  knowledge_documents: DEFAULT_DOCUMENTS,
}

export const limitOf = (quotas: PlanQuotas, quota: QuotaName): number | null | undefined =>
  quotas[quota] === undefined ? DEFAULTS[quota] : quotas[quota]

const titles: Record<QuotaName, string> = {
  runs_per_month: 'executions this month',
  members: 'members',
  storage_bytes: 'bytes of storage',
  records: 'records',
  event_destinations: 'event destinations',
  knowledge_documents: 'documents in knowledge bases',
}

export const exceeded = (quota: QuotaName, limit: number) =>
  quotaExceeded(quota, limit, titles[quota], 'Remove something, or change the plan.')

/** Returns how much of a quota the workspace uses now. */
export async function used(tx: Tx, workspaceId: string, quota: QuotaName): Promise<number> {
  if (quota === 'members') {
    const row = await tx.row<{ used: number }>(
      `select count(*)::int as used from memberships m where workspace_id = $1 and role <> 'guest'
       and not exists (select from service_accounts s where s.workspace_id = $1 and s.user_id = m.user_id)`,
      [workspaceId],
    )
    return row.used
  }
  if (quota === 'event_destinations') {
    const row = await tx.row<{ used: number }>(
      'select count(*)::int as used from event_destinations where workspace_id = $1',
      [workspaceId],
    )
    return row.used
  }
  if (quota === 'knowledge_documents') {
    const row = await tx.row<{ used: number }>(
      'select count(*)::int as used from knowledge_documents where workspace_id = $1',
      [workspaceId],
    )
    return row.used
  }
  const row = await tx.maybe<{ used: number }>(
    'select used from usage_counters where workspace_id = $1 and quota = $2 and period = $3',
    [workspaceId, quota, periodOf(quota, Date.now())],
  )
  return Math.max(0, row?.used ?? 0)
}

/** Adds to a counter, or subtracts from it, in the transaction of the change. Members need no counter. */
export async function add(tx: Tx, workspaceId: string, quota: CountedQuota, amount: number): Promise<void> {
  if (amount === 0) return
  await tx.rows('select add_usage($1::uuid[], $2::text[], $3::text[], $4::bigint[])', [
    [workspaceId],
    [quota],
    [periodOf(quota, Date.now())],
    [amount],
  ])
}

/** Refuses a plan that is too small for what the workspace uses. */
export async function checkFit(ctx: Context, plan: Plan): Promise<void> {
  const { workspace_id } = ctx.workspace
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    for (const quota of ['members', 'storage_bytes', 'records', 'event_destinations', 'knowledge_documents'] as const) {
      const limit = limitOf(plan.quotas as PlanQuotas, quota)
      if (limit === undefined || limit === null) continue
      const now = await used(tx, workspace_id, quota)
      if (passesLimit(limit, now, 0))
        throw problem(
          'quota_exceeded',
          `The plan allows ${limit} ${titles[quota]} (${quota}), and the workspace has ${now}. Remove some first.`,
        )
    }
  })
}
