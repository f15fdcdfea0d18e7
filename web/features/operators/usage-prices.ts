import type { UsagePrice } from '#sdk/types.generated'

// Prices for usage as the form of a plan has them: an empty price is none, and the cost of models is in US dollars.

export type UsageValues = {
  tokens_price: string
  tokens_per: string
  tokens_included: string
  cost_price: string
  cost_per: string
  cost_included: string
}

/** The meter of costs counts millionths of a US dollar. */
export const DOLLAR = 1_000_000

/** In the order of the plan: a plan with subscribers is refused other prices, and another order is another. */
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

/** What a form offers, and what the plan has though it is not offered. */
export const withOwn = (offered: readonly number[], own: number | undefined): number[] =>
  [...new Set([...offered, ...(own === undefined ? [] : [own])])].sort((a, b) => a - b)
