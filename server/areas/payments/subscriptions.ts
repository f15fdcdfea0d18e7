import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { isProblem, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import { type BillingParts, type Change, changing, inTransaction } from './customers.ts'
import { findPlan } from './plans.ts'
import type { Quotas } from './quotas.ts'
import type {
  BillingSubscription,
  BillingSubscriptionPatch,
  NewBillingSubscription,
  PaymentToConfirm,
  Plan,
} from './schema.ts'
import * as store from './store.ts'

export function makeSubscriptions(parts: BillingParts & { quotas: Quotas }) {
  const { provider, cache, quotas } = parts

  const findLive = (ctx: Context): Promise<store.SubscriptionRow | undefined> =>
    inTransaction(ctx, (tx) => store.findLiveSubscription(tx, ctx.workspace.workspace_id, provider.name))

  async function requireLive(ctx: Context): Promise<store.SubscriptionRow> {
    const subscription = await findLive(ctx)
    if (!subscription) throw problem('no_subscription', 'Make one with POST /api/payments/subscriptions.')
    return subscription
  }

  async function planOnOffer(ctx: Context, planId: string): Promise<Plan> {
    const plan = await inTransaction(ctx, (tx) => findPlan(tx, ctx.org.org_id, planId))
    if (!plan) throw unknownReference('/plan_id')
    return plan
  }

  /** The copy may be behind: a card added a moment ago counts. */
  async function requireMethod(ctx: Context): Promise<void> {
    const { workspace_id } = ctx.workspace
    const has = () =>
      inTransaction(ctx, async (tx) =>
        (await store.listMethods(tx, workspace_id, provider.name)).some((method) => method.default),
      )
    if (await has()) return
    await cache.refresh(workspace_id)
    if (!(await has())) throw problem('payment_method_required', 'Add a card first: POST /api/payments/setup-intent.')
  }

  /**
   * Subscribes once. With a provider outside, the attempt is noted first, so that whatever is sent under its number is the same
   * every time; a known refusal closes it, so that the next one is not answered with the old refusal.
   */
  async function subscribe(
    ctx: Context,
    { customer, row, requestKey }: Change,
    plan: Plan,
  ): Promise<{ client_secret: string } | void> {
    const { workspaceId } = customer
    const trialDays = row.trial_used ? 0 : plan.trial_days
    if (!provider.cached) return provider.subscribe(customer, { plan, trialDays, requestKey, attempt: row.attempt })
    const { attempt, attempt_request } = await inTransaction(ctx, (tx) =>
      store.beginAttempt(tx, workspaceId, provider.name, requestKey),
    )
    try {
      return await provider.subscribe(customer, { plan, trialDays, requestKey: attempt_request, attempt })
    } catch (error) {
      if (isProblem(error, 'card_declined') || isProblem(error, 'conflict'))
        await inTransaction(ctx, (tx) => store.closeAttempt(tx, workspaceId, provider.name, attempt))
      throw error
    }
  }

  /** The subscription as it is, after asking the provider where an earlier attempt may have arrived unseen. */
  async function findCertain(ctx: Context, row: store.CustomerRow): Promise<store.SubscriptionRow | undefined> {
    const present = await findLive(ctx)
    if (present || row.attempt_request === null) return present
    const { workspace_id } = ctx.workspace
    await cache.refresh(workspace_id)
    const found = await findLive(ctx)
    if (!found) await inTransaction(ctx, (tx) => store.closeOldAttempt(tx, workspace_id, provider.name))
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

  async function getMySubscription(ctx: Context): Promise<BillingSubscription> {
    await cache.refreshIfOld(ctx.workspace.workspace_id)
    return shown(await requireLive(ctx))
  }

  return {
    getMySubscription,

    async createSubscription(
      ctx: Context,
      { plan_id }: z.output<typeof NewBillingSubscription>,
    ): Promise<BillingSubscription | PaymentToConfirm> {
      const plan = await planOnOffer(ctx, plan_id)
      const subscribeOnce = async (change: Change): Promise<BillingSubscription | PaymentToConfirm> => {
        const present = await findCertain(ctx, change.row)
        // The same request, repeated after its answer was lost.
        if (present && present.request_key === change.requestKey) return shown(present)
        if (present) throw problem('subscription_exists', 'Change it with PATCH /api/payments/subscriptions/me.')
        if (plan.amount > 0) await requireMethod(ctx)
        await quotas.checkFit(ctx, plan)
        const challenge = await subscribe(ctx, change, plan)
        // What the holder confirms in the browser, the provider tells us of; until then there is no subscription.
        if (challenge) {
          ctx.status(202)
          return { status: 'requires_action', ...challenge }
        }
        await cache.refresh(change.customer.workspaceId)
        quotas.forget(change.customer.workspaceId)
        const made = await findLive(ctx)
        if (!made) throw problem('provider_unavailable', 'The subscription did not come to be. Try again.')
        await audit(ctx, 'billing.subscribed', made)
        return shown(made)
      }
      return changing(ctx, parts, subscribeOnce, plan.plan_id)
    },

    async updateMySubscription(
      ctx: Context,
      patch: z.output<typeof BillingSubscriptionPatch>,
    ): Promise<BillingSubscription> {
      const plan = patch.plan_id === undefined ? undefined : await planNamed(ctx, patch.plan_id)
      return changing(ctx, parts, async ({ customer, requestKey }) => {
        const present = await requireLive(ctx)
        const ref = present.provider_ref
        const wanted = patch.cancel_at_period_end ?? present.cancel_at_period_end
        const newPlan = plan && plan.plan_id !== present.plan_id ? plan : undefined
        if (!newPlan && wanted === present.cancel_at_period_end) return shown(present)
        // The change that can be declined comes first: what follows it hardly ever fails.
        if (newPlan) {
          if (newPlan.amount > 0) await requireMethod(ctx)
          await quotas.checkFit(ctx, newPlan)
          await provider.changePlan(customer, ref, newPlan, requestKey)
        }
        if (wanted && !present.cancel_at_period_end) await provider.cancel(customer, ref, 'period_end', requestKey)
        if (!wanted && present.cancel_at_period_end) await provider.resume(customer, ref, requestKey)
        await cache.refresh(customer.workspaceId)
        quotas.forget(customer.workspaceId)
        const changed = await requireLive(ctx)
        await audit(ctx, 'billing.changed', changed)
        return shown(changed)
      })
    },

    async cancelMySubscription(ctx: Context, { at }: { at: 'period_end' | 'now' }): Promise<void> {
      await requireLive(ctx)
      await changing(ctx, parts, async ({ customer, requestKey }) => {
        const present = await requireLive(ctx)
        await provider.cancel(customer, present.provider_ref, at, requestKey)
        await cache.refresh(customer.workspaceId)
        quotas.forget(customer.workspaceId)
        await audit(ctx, 'billing.cancelled', present)
      })
    },
  }

  /** A fetched subscription may be sent back although its plan is no longer on offer. */
  async function planNamed(ctx: Context, planId: string): Promise<Plan | undefined> {
    const present = await findLive(ctx)
    return present?.plan_id === planId ? undefined : planOnOffer(ctx, planId)
  }
}

/** What people see: neither the provider's reference nor the name of the request. */
const shown = ({
  provider_ref: _ref,
  request_key: _key,
  ...subscription
}: store.SubscriptionRow): BillingSubscription => subscription
