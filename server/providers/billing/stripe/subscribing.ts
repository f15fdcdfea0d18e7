import type Stripe from 'stripe'
import { problem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { Customer, Order } from '../index.ts'
import { ensureUsagePrices } from './meters.ts'
import { ensurePrice } from './prices.ts'
import { isKeyConflict, needsCardholder } from './refusals.ts'
import { planItemOf } from './snapshot.ts'
import { ensureCoupon, ensureTaxRate } from './terms.ts'

export async function subscribe(
  stripe: Stripe,
  customer: Customer,
  { plan, trialDays, requestKey, attempt, discount }: Order,
): Promise<{ client_secret: string } | void> {
  const price = await ensurePrice(stripe, plan)
  const usage = await ensureUsagePrices(stripe, plan)
  const wanted = {
    customer: customer.ref,
    items: [price, ...usage].map((one) => ({ price: one })),
    metadata: { heddle_workspace: toWire('ws', customer.workspaceId), heddle_request: requestKey },
    ...(trialDays > 0 && { trial_period_days: trialDays }),
    ...(plan.tax && { default_tax_rates: [await ensureTaxRate(stripe, plan.tax)] }),
    ...(discount && { discounts: [{ coupon: await ensureCoupon(stripe, discount) }] }),
  }
  try {
    await stripe.subscriptions.create(
      // A failed first payment leaves no subscription behind.
      { ...wanted, payment_behavior: 'error_if_incomplete', off_session: true },
      { idempotencyKey: `subscribe:${customer.ref}:${attempt}` },
    )
  } catch (error) {
    if (needsCardholder(error)) return await awaitHolder(stripe, wanted, `confirm:${customer.ref}:${attempt}`)
    // The key was used with other parameters, so an earlier attempt reached Stripe. Its outcome must be read from
    // Stripe.
    if (isKeyConflict(error)) throw problem('conflict', 'Another attempt to subscribe reached Stripe first.')
    throw error
  }
}

/**
 * Creates a subscription whose first payment waits for the cardholder. Stripe ends it after a day without confirmation.
 * An existing subscription that waits for the same price is used again, so that an old page and a new page do not both
 * pay.
 */
async function awaitHolder(
  stripe: Stripe,
  wanted: Stripe.SubscriptionCreateParams & { customer: string; items: { price: string }[] },
  idempotencyKey: string,
): Promise<{ client_secret: string }> {
  const waiting = await stripe.subscriptions.list({
    customer: wanted.customer,
    status: 'incomplete',
    limit: 20,
    expand: ['data.latest_invoice.confirmation_secret'],
  })
  const known = waiting.data.find((one) => planItemOf(one)?.price.id === wanted.items[0]?.price)
  const subscription =
    known ??
    (await stripe.subscriptions.create(
      { ...wanted, payment_behavior: 'default_incomplete', expand: ['latest_invoice.confirmation_secret'] },
      { idempotencyKey },
    ))
  const invoice = subscription.latest_invoice as Stripe.Invoice | null
  const secret = invoice?.confirmation_secret?.client_secret
  if (!secret) throw problem('provider_unavailable', 'Stripe sent no secret to confirm the payment with. Try again.')
  return { client_secret: secret }
}

export async function changePlan(
  stripe: Stripe,
  subscriptionRef: string,
  plan: Parameters<typeof ensurePrice>[1],
  key: string,
): Promise<void> {
  const price = await ensurePrice(stripe, plan)
  const subscription = await stripe.subscriptions.retrieve(subscriptionRef)
  const item = planItemOf(subscription)!
  if (item.price.id === price) return
  const usage = await ensureUsagePrices(stripe, plan)
  const before = subscription.items.data.filter(({ id }) => id !== item.id)
  if (item.price.currency !== plan.currency)
    throw problem('conflict', 'The new plan is in another currency; let this subscription end, then subscribe again.')
  if (subscription.status !== 'active' && subscription.status !== 'trialing')
    throw problem('conflict', 'An invoice is open. Make a working card the default, then change the plan.')
  await stripe.subscriptions.update(
    subscriptionRef,
    {
      items: [
        { id: item.id, price },
        ...before.map(({ id }) => ({ id, deleted: true })),
        ...usage.map((one) => ({ price: one })),
      ],
      default_tax_rates: plan.tax ? [await ensureTaxRate(stripe, plan.tax)] : '',
      discounts: '',
      proration_behavior: 'always_invoice',
      payment_behavior: 'error_if_incomplete',
      off_session: true,
    },
    { idempotencyKey: `change:${subscriptionRef}:${key}` },
  )
}
