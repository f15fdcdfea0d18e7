import type Stripe from 'stripe'
import { newId, toWire } from '#platform/ids'
import type { BillingPlan } from '../index.ts'

/**
 * The look-up key of a price. A Stripe price never changes, so the key contains everything that defines the price:
 * plan, amount, currency and interval. Stripe keeps look-up keys unique, so two servers that create the same price at
 * the same time end up with one.
 */
const lookupKey = (plan: BillingPlan): string =>
  `heddle:${toWire('plan', plan.plan_id)}:${plan.amount}:${plan.currency}:${plan.interval}`

export const ensurePrice = (stripe: Stripe, plan: BillingPlan): Promise<string> =>
  findOrMakePrice(stripe, lookupKey(plan), async () => ({
    currency: plan.currency,
    unit_amount: plan.amount,
    recurring: { interval: plan.interval },
    product_data: { name: plan.name },
    metadata: { heddle_plan: toWire('plan', plan.plan_id) },
  }))

export async function findOrMakePrice(
  stripe: Stripe,
  key: string,
  make: () => Promise<Omit<Stripe.PriceCreateParams, 'lookup_key'>>,
): Promise<string> {
  const find = async (): Promise<string | undefined> =>
    (await stripe.prices.list({ lookup_keys: [key], active: true, limit: 1 })).data[0]?.id
  const found = await find()
  if (found !== undefined) return found
  try {
    const price = await stripe.prices.create(
      { ...(await make()), lookup_key: key },
      // A new key for each call: the look-up key already prevents a second price, and with a fixed key Stripe would
      // repeat its own earlier failure.
      { idempotencyKey: `price:${newId()}` },
    )
    return price.id
  } catch (error) {
    const made = await find()
    if (made !== undefined) return made
    throw error
  }
}
