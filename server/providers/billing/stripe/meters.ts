import type Stripe from 'stripe'
import { newId, toWire } from '#platform/ids'
import type { BillingPlan, Customer, Meter, UsagePrice, UsageReport } from '../index.ts'
import { nameOfMeter } from '../usage.ts'
import { stripeLibrary } from './library.ts'
import { findOrMakePrice } from './prices.ts'

// Stripe adds up usage with a meter for each kind of usage, events that report usage, and metered prices as items of
// the subscription.

const eventName = (meter: Meter): string => `heddle_${meter}`
const MAX_METERS = 100

async function ensureMeter(stripe: Stripe, meter: Meter): Promise<string> {
  const find = async (): Promise<string | undefined> => {
    const { data } = await stripe.billing.meters.list({ status: 'active', limit: MAX_METERS })
    return data.find(({ event_name }) => event_name === eventName(meter))?.id
  }
  const found = await find()
  if (found !== undefined) return found
  try {
    const made = await stripe.billing.meters.create(
      {
        display_name: nameOfMeter(meter),
        event_name: eventName(meter),
        default_aggregation: { formula: 'sum' },
        customer_mapping: { type: 'by_id', event_payload_key: 'stripe_customer_id' },
        value_settings: { event_payload_key: 'value' },
      },
      // A new key for each call: Stripe itself refuses a second active meter with the same event name.
      { idempotencyKey: `meter:${newId()}` },
    )
    return made.id
  } catch (error) {
    const made = await find()
    if (made !== undefined) return made
    throw error
  }
}

/** Returns the price of one unit. The result is exact because `per` is a power of ten. */
export function unitAmount({ unit_amount, per }: UsagePrice): string {
  const digits = Math.round(Math.log10(per))
  if (digits === 0) return String(unit_amount)
  const text = String(unit_amount).padStart(digits + 1, '0')
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, '')
}

async function ensureUsagePrice(stripe: Stripe, plan: BillingPlan, price: UsagePrice): Promise<string> {
  const { meter, unit_amount, per, included } = price
  const decimal = stripeLibrary().Decimal.from(unitAmount(price))
  const plan_id = toWire('plan', plan.plan_id)
  return findOrMakePrice(
    stripe,
    `heddle:${plan_id}:${meter}:${unit_amount}:${per}:${included}:${plan.currency}:${plan.interval}`,
    async () => ({
      currency: plan.currency,
      recurring: { interval: plan.interval, usage_type: 'metered', meter: await ensureMeter(stripe, meter) },
      product_data: { name: `${plan.name}: ${nameOfMeter(meter)}` },
      metadata: { heddle_plan: plan_id, heddle_meter: meter },
      ...(included > 0
        ? {
            billing_scheme: 'tiered',
            tiers_mode: 'graduated',
            tiers: [
              { up_to: included, unit_amount: 0 },
              { up_to: 'inf', unit_amount_decimal: decimal },
            ],
          }
        : { billing_scheme: 'per_unit', unit_amount_decimal: decimal }),
    }),
  )
}

export async function ensureUsagePrices(stripe: Stripe, plan: BillingPlan): Promise<string[]> {
  const prices: string[] = []
  for (const price of plan.usage_prices) prices.push(await ensureUsagePrice(stripe, plan, price))
  return prices
}

/** Reports usage. Stripe accepts an identifier only once, so a report whose response was lost can be sent again. */
export async function reportUsage(stripe: Stripe, customer: Customer, report: UsageReport): Promise<void> {
  const event = {
    event_name: eventName(report.meter),
    identifier: report.id,
    timestamp: Math.floor(report.at.getTime() / 1000),
    payload: { stripe_customer_id: customer.ref, value: String(report.quantity) },
  }
  try {
    await stripe.billing.meterEvents.create(event, { idempotencyKey: `usage:${report.id}` })
  } catch (error) {
    if (!isReported(error, report.id)) throw error
  }
}

/** Checks whether Stripe refused the report because it already has it. */
const isReported = (error: unknown, id: string): boolean =>
  error instanceof stripeLibrary().errors.StripeInvalidRequestError &&
  error.message.includes('already exists') &&
  error.message.includes(id)
