import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { invalid, isProblem, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import type { Discount } from '#providers/billing/index'
import { reportUsage } from './charges.ts'
import { type BillingParts, type Change, changing, inTransaction } from './customers.ts'
import type { Plan } from './plan-schema.ts'
import { findCoupon, findPlan } from './plans.ts'
import type { Quotas } from './quotas.ts'
import type {
  BillingSubscription,
  BillingSubscriptionPatch,
  NewBillingSubscription,
  PaymentToConfirm,
} from './schema.ts'
import * as store from './store.ts'

type Deps = BillingParts & { quotas: Quotas; publishableKey: string | null }

const findLive = ({ provider }: Deps, ctx: Context): Promise<store.SubscriptionRow | undefined> =>
  inTransaction(ctx, (tx) => store.findLiveSubscription(tx, ctx.workspace.workspace_id, provider.name))

async function requireLive(deps: Deps, ctx: Context): Promise<store.SubscriptionRow> {
  const subscription = await findLive(deps, ctx)
  if (!subscription) throw problem('no_subscription', 'Create one with POST /api/payments/subscriptions.')
  return subscription
}

async function couponOf(ctx: Context, plan: Plan, code: string): Promise<Discount> {
  const coupon = await inTransaction(ctx, (tx) => findCoupon(tx, plan.plan_id, code))
  if (!coupon) throw invalid([{ path: '/coupon', message: 'is not a coupon of this plan, or has expired' }])
  return { code: coupon.code, percent_off: coupon.percent_off, duration: coupon.duration }
}

async function planOnOffer(ctx: Context, planId: string): Promise<Plan> {
  const plan = await inTransaction(ctx, (tx) => findPlan(tx, ctx.org.org_id, planId))
  if (!plan) throw unknownReference('/plan_id')
  return plan
}

const costs = ({ amount, usage_prices }: Plan): boolean => amount > 0 || usage_prices.length > 0

/** Requires a payment method. Refreshes the copy if it has none, since a card may have been added a moment ago. */
async function requireMethod({ provider, cache }: Deps, ctx: Context): Promise<void> {
  const { workspace_id } = ctx.workspace
  const has = () =>
    inTransaction(ctx, async (tx) =>
      (await store.listMethods(tx, workspace_id, provider.name)).some((method) => method.default),
    )
  if (await has()) return
  await cache.refresh(workspace_id)
  if (!(await has())) throw problem('payment_method_required', 'Add a card to the workspace first.')
}

/**
 * Subscribes once. With an external provider, the attempt is stored first, so that everything sent under its number is
 * the same every time. A known refusal closes the attempt, so that the next attempt does not get the old refusal.
 */
async function subscribe(
  { provider }: Deps,
  ctx: Context,
  { customer, row, requestKey }: Change,
  plan: Plan,
  discount: Discount | null,
): Promise<{ client_secret: string } | void> {
  const { workspaceId } = customer
  const trialDays = row.trial_used ? 0 : plan.trial_days
  if (!provider.cached)
    return provider.subscribe(customer, { plan, trialDays, requestKey, attempt: row.attempt, discount })
  const { attempt, attempt_request } = await inTransaction(ctx, (tx) =>
    store.beginAttempt(tx, workspaceId, provider.name, requestKey),
  )
  try {
    return await provider.subscribe(customer, { plan, trialDays, requestKey: attempt_request, attempt, discount })
  } catch (error) {
    if (isProblem(error, 'card_declined') || isProblem(error, 'conflict'))
      await inTransaction(ctx, (tx) => store.closeAttempt(tx, workspaceId, provider.name, attempt))
    throw error
  }
}

/** Returns the current subscription. Refreshes from the provider if an earlier attempt may have succeeded unnoticed. */
async function findCertain(
  deps: Deps,
  ctx: Context,
  row: store.CustomerRow,
): Promise<store.SubscriptionRow | undefined> {
  const present = await findLive(deps, ctx)
  if (present || row.attempt_request === null) return present
  const { workspace_id } = ctx.workspace
  await deps.cache.refresh(workspace_id)
  const found = await findLive(deps, ctx)
  if (!found) await inTransaction(ctx, (tx) => store.closeOldAttempt(tx, workspace_id, deps.provider.name))
  return found
}

const audit = (ctx: Context, action: string, subscription: BillingSubscription): Promise<void> =>
  inTransaction(ctx, (tx) =>
    recordAudit(ctx, tx, {
      action,
      subject: toWire('sub', subscription.subscription_id),
      data: { plan_id: toWire('plan', subscription.plan_id) },
    }),
  )

export async function getMySubscription(deps: Deps, ctx: Context): Promise<BillingSubscription> {
  await deps.cache.refreshIfOld(ctx.workspace.workspace_id)
  return shown(await requireLive(deps, ctx))
}

export async function createSubscription(
  deps: Deps,
  ctx: Context,
  { plan_id, coupon }: z.output<typeof NewBillingSubscription>,
): Promise<BillingSubscription | PaymentToConfirm> {
  const plan = await planOnOffer(ctx, plan_id)
  const discount = coupon === undefined ? null : await couponOf(ctx, plan, coupon)
  const subscribeOnce = async (change: Change): Promise<BillingSubscription | PaymentToConfirm> => {
    const present = await findCertain(deps, ctx, change.row)
    // The same request, repeated after its response was lost.
    if (present && present.request_key === change.requestKey) return shown(present)
    if (present) throw problem('subscription_exists', 'Change it with PATCH /api/payments/subscriptions/me.')
    if (costs(plan)) await requireMethod(deps, ctx)
    await deps.quotas.checkFit(ctx, plan)
    const challenge = await subscribe(deps, ctx, change, plan, discount)
    // There is no subscription until the provider reports that the holder has confirmed the payment in the browser.
    if (challenge) {
      ctx.status(202)
      return { status: 'requires_action', ...challenge, publishable_key: deps.publishableKey }
    }
    await deps.cache.refresh(change.customer.workspaceId)
    deps.quotas.forget(change.customer.workspaceId)
    const made = await findLive(deps, ctx)
    if (!made) throw problem('provider_unavailable', 'The subscription could not be created. Try again.')
    await audit(ctx, 'billing.subscribed', made)
    return shown(made)
  }
  return changing(ctx, deps, subscribeOnce, plan.plan_id + (discount?.code ?? ''))
}

export async function updateMySubscription(
  deps: Deps,
  ctx: Context,
  patch: z.output<typeof BillingSubscriptionPatch>,
): Promise<BillingSubscription> {
  const plan = patch.plan_id === undefined ? undefined : await planNamed(deps, ctx, patch.plan_id)
  return changing(ctx, deps, async ({ customer, requestKey }) => {
    const present = await requireLive(deps, ctx)
    const ref = present.provider_ref
    const wanted = patch.cancel_at_period_end ?? present.cancel_at_period_end
    const newPlan = plan && plan.plan_id !== present.plan_id ? plan : undefined
    if (!newPlan && wanted === present.cancel_at_period_end) return shown(present)
    // The change that can be declined comes first, because the following changes rarely fail.
    if (newPlan) {
      if (costs(newPlan)) await requireMethod(deps, ctx)
      await deps.quotas.checkFit(ctx, newPlan)
      await reportUsage(ctx.db, deps.provider, customer.workspaceId)
      await deps.provider.changePlan(customer, ref, newPlan, requestKey)
    }
    if (wanted && !present.cancel_at_period_end) await deps.provider.cancel(customer, ref, 'period_end', requestKey)
    if (!wanted && present.cancel_at_period_end) await deps.provider.resume(customer, ref, requestKey)
    await deps.cache.refresh(customer.workspaceId)
    deps.quotas.forget(customer.workspaceId)
    const changed = await requireLive(deps, ctx)
    await audit(ctx, 'billing.changed', changed)
    return shown(changed)
  })
}

export async function cancelMySubscription(
  deps: Deps,
  ctx: Context,
  { at }: { at: 'period_end' | 'now' },
): Promise<void> {
  await requireLive(deps, ctx)
  await changing(ctx, deps, async ({ customer, requestKey }) => {
    const present = await requireLive(deps, ctx)
    if (at === 'now') await reportUsage(ctx.db, deps.provider, customer.workspaceId)
    await deps.provider.cancel(customer, present.provider_ref, at, requestKey)
    await deps.cache.refresh(customer.workspaceId)
    deps.quotas.forget(customer.workspaceId)
    await audit(ctx, 'billing.cancelled', present)
  })
}

/** Returns the new plan, or undefined if the plan is the current one, which may no longer be on offer. */
async function planNamed(deps: Deps, ctx: Context, planId: string): Promise<Plan | undefined> {
  const present = await findLive(deps, ctx)
  return present?.plan_id === planId ? undefined : planOnOffer(ctx, planId)
}

const verbsOfSubscriptions = {
  getMySubscription,
  createSubscription,
  updateMySubscription,
  cancelMySubscription,
}

export function makeSubscriptions(dependencies: Deps) {
  return bindVerbs<Deps, typeof verbsOfSubscriptions>(dependencies, verbsOfSubscriptions)
}

/** Removes the provider's reference and the request key, which users do not see. */
const shown = ({
  provider_ref: _ref,
  request_key: _key,
  ...subscription
}: store.SubscriptionRow): BillingSubscription => subscription
