import type Stripe from 'stripe'
import type { Discount, Tax } from '../index.ts'
import { isMissing } from './refusals.ts'

// Tax rates and coupons at Stripe. Both are immutable there, so their names contain all their values: a changed tax is
// a new rate.

const MAX_LISTED = 100

/**
 * Returns the id of the tax rate. Two servers that create the same rate at the same time create two rates with equal
 * effect.
 */
export async function ensureTaxRate(stripe: Stripe, tax: Tax): Promise<string> {
  const mark = `${tax.name}:${tax.percent}`
  const known = await stripe.taxRates.list({ active: true, limit: MAX_LISTED })
  const found = known.data.find(({ metadata }) => metadata?.heddle_tax === mark)
  if (found) return found.id
  const made = await stripe.taxRates.create({
    display_name: tax.name,
    percentage: tax.percent,
    inclusive: false,
    metadata: { heddle_tax: mark },
  })
  return made.id
}

export async function ensureCoupon(stripe: Stripe, { code, percent_off, duration }: Discount): Promise<string> {
  const id = `heddle-${code}-${percent_off}-${duration}`
  try {
    return (await stripe.coupons.retrieve(id)).id
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  try {
    return (await stripe.coupons.create({ id, name: code, percent_off, duration })).id
  } catch (error) {
    // Another server may have created the coupon first.
    if (await stripe.coupons.retrieve(id).catch(() => undefined)) return id
    throw error
  }
}
