import type { UsagePrice } from '#sdk/types.generated'

// Usage prices in the form of a plan: an empty price means no price, and the cost of models is in US dollars.

export type UsageValues = {
  tokens_price: string
  tokens_per: string
  tokens_included: string
  cost_price: string
  cost_per: string
  cost_included: string
}

/** The cost meter counts millionths of a US dollar. */
export const DOLLAR = 1_000_000

/**
 * Returns the prices in the order of the plan: the service refuses changed prices for a plan with subscribers, and a
 * changed order counts as a change.
 */
export function readUsagePrices(values: UsageValues, old: readonly UsagePrice[] = []): UsagePrice[] {
  const prices: UsagePrice[] = []
  if (values.tokens_price.trim() !== '')
    prices.push({
      meter: 'model_tokens',
      unit_amount: Number(values.tokens_price),
      per: Number(values.tokens_per),
      included: Number(values.tokens_included || 0),
    })
  if (values.cost_price.trim() !== '')
    prices.push({
      meter: 'model_cost',
      unit_amount: Number(values.cost_price),
      per: Number(values.cost_per),
      included: Math.round(Number(values.cost_included || 0) * DOLLAR),
    })
  const placeOf = ({ meter }: UsagePrice): number => {
    const place = old.findIndex((price) => price.meter === meter)
    return place < 0 ? old.length : place
  }
  return prices.sort((a, b) => placeOf(a) - placeOf(b))
}

/** Returns the offered values, plus the plan's own value if it is not among them. */
export const withOwn = (offered: readonly number[], own: number | undefined): number[] =>
  [...new Set([...offered, ...(own === undefined ? [] : [own])])].sort((a, b) => a - b)
