import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { type Coupon, type NewPlan, type Plan, type PlanPatch, planList } from './plan-schema.ts'

// Plans belong to the org of the request's host. A price never changes for existing subscribers. Requests can only read
// plans; changes use the database role of operators.

const columns =
  'plan_id, name, amount, currency, "interval", quotas, features, trial_days, usage_prices, tax, created_at, updated_at'

/** Coupon codes are secrets of the operator, so public lists omit them. */
const columnsOf = (ctx: Context): string => (ctx.maybePerson?.operator ? `${columns}, coupons` : columns)

/** Finds a plan on offer in this org. A plan of another org is not found, like a random id. */
export const findPlan = (tx: Tx, orgId: string, planId: string, wanted = columns): Promise<Plan | undefined> =>
  tx.maybe<Plan>(`select ${wanted} from plans where org_id = $1 and plan_id = $2 and archived_at is null`, [
    orgId,
    planId,
  ])

/** Finds a coupon of this plan that is currently valid. */
export async function findCoupon(tx: Tx, planId: string, code: string): Promise<Coupon | undefined> {
  const { coupons } = await tx.row<{ coupons: Coupon[] }>('select coupons from plans where plan_id = $1', [planId])
  return coupons.find(
    (coupon) => coupon.code === code && (coupon.expires_at == null || new Date(coupon.expires_at) > new Date()),
  )
}

const couponsToStore = (coupons: Coupon[]): string =>
  JSON.stringify(coupons.map((coupon) => ({ ...coupon, expires_at: coupon.expires_at ?? null })))

type ById = { plan_id: string }

export function makePlans() {
  async function requirePlan(ctx: Context, tx: Tx, planId: string): Promise<Plan> {
    const plan = await findPlan(tx, ctx.org.org_id, planId, columnsOf(ctx))
    if (!plan) throw problem('not_found')
    return plan
  }

  const getPlan = (ctx: Context, { plan_id }: ById): Promise<Plan> =>
    ctx.maybeTx
      ? requirePlan(ctx, ctx.maybeTx, plan_id)
      : ctx.db.tenant(scopeOf(ctx), (tx) => requirePlan(ctx, tx, plan_id))

  /** Waits for subscriptions in progress to this plan, and blocks new ones until the change is committed. */
  const hasSubscribers = async (tx: Tx, planId: string): Promise<boolean> => {
    await tx.rows('select from plans where plan_id = $1 for update', [planId])
    return (await tx.row<{ used: boolean }>('select plan_has_subscribers($1) as used', [planId])).used
  }

  return {
    getPlan,

    listPlans: (ctx: Context, asked: ListInput) =>
      readList<Plan>(ctx.tx, planList, asked, {
        sql: `select ${columnsOf(ctx)} from plans where org_id = $1 and archived_at is null`,
        values: [ctx.org.org_id],
      }),

    async createPlan(ctx: Context, input: z.output<typeof NewPlan>): Promise<Plan> {
      return ctx.db.operator(async (tx) => {
        const plan = await tx.row<Plan>(
          `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas, features, trial_days, usage_prices, tax, coupons)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning ${columnsOf(ctx)}`,
          [
            newId(),
            ctx.org.org_id,
            input.name,
            input.amount,
            input.currency,
            input.interval,
            input.quotas ?? {},
            JSON.stringify(input.features ?? []),
            input.trial_days ?? 0,
            JSON.stringify(input.usage_prices ?? []),
            input.tax ?? null,
            couponsToStore(input.coupons ?? []),
          ],
        )
        await recordAudit(ctx, tx, {
          action: 'plan.created',
          subject: toWire('plan', plan.plan_id),
          workspaceId: null,
        })
        return plan
      })
    },

    async updatePlan(ctx: Context, { plan_id, ...patch }: ById & z.output<typeof PlanPatch>): Promise<Plan> {
      return ctx.db.operator(async (tx) => {
        const before = await requirePlan(ctx, tx, plan_id)
        const price =
          (patch.amount ?? before.amount) !== before.amount ||
          (patch.currency ?? before.currency) !== before.currency ||
          (patch.interval ?? before.interval) !== before.interval ||
          (patch.usage_prices !== undefined && !isDeepStrictEqual(patch.usage_prices, before.usage_prices))
        if (price && (await hasSubscribers(tx, plan_id)))
          throw problem('plan_in_use', 'The price of a plan with subscribers cannot change. Create a new plan instead.')
        const plan = await tx.row<Plan>(
          `update plans set name = coalesce($2, name), amount = coalesce($3, amount), currency = coalesce($4, currency),
             "interval" = coalesce($5, "interval"), quotas = coalesce($6::jsonb, quotas), features = coalesce($7::jsonb, features),
             trial_days = coalesce($8, trial_days), usage_prices = coalesce($9::jsonb, usage_prices),
             tax = case when $10::boolean then $11::jsonb else tax end, coupons = coalesce($12::jsonb, coupons), updated_at = now()
           where plan_id = $1 returning ${columnsOf(ctx)}`,
          [
            plan_id,
            patch.name ?? null,
            patch.amount ?? null,
            patch.currency ?? null,
            patch.interval ?? null,
            patch.quotas ?? null,
            patch.features === undefined ? null : JSON.stringify(patch.features),
            patch.trial_days ?? null,
            patch.usage_prices === undefined ? null : JSON.stringify(patch.usage_prices),
            patch.tax !== undefined,
            patch.tax ?? null,
            patch.coupons === undefined ? null : couponsToStore(patch.coupons),
          ],
        )
        await recordAudit(ctx, tx, { action: 'plan.changed', subject: toWire('plan', plan_id), workspaceId: null })
        return plan
      })
    },

    async deletePlan(ctx: Context, { plan_id }: ById): Promise<void> {
      return ctx.db.operator(async (tx) => {
        await requirePlan(ctx, tx, plan_id)
        if (await hasSubscribers(tx, plan_id))
          throw problem('plan_in_use', 'Let its subscribers change to another plan first.')
        await tx.count('update plans set archived_at = now(), updated_at = now() where plan_id = $1', [plan_id])
        await recordAudit(ctx, tx, { action: 'plan.deleted', subject: toWire('plan', plan_id), workspaceId: null })
      })
    },
  }
}
