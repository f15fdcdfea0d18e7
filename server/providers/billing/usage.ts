import type { InvoiceLine, Meter, UsagePrice } from './index.ts'

const names: Record<Meter, string> = {
  model_tokens: 'Tokens of language models',
  model_cost: 'Cost of language models',
}

export const nameOfMeter = (meter: Meter): string => names[meter]

/** Returns the price of the quantity above the included units, rounded half up. BigInt: price × tokens exceeds 2^53. */
export function usageAmount({ unit_amount, per, included }: UsagePrice, quantity: number): number {
  const charged = BigInt(Math.max(0, quantity - included))
  return Number((2n * charged * BigInt(unit_amount) + BigInt(per)) / (2n * BigInt(per)))
}

export function usageLine(price: UsagePrice, quantity: number, period: { start: Date; end: Date }): InvoiceLine {
  const included = price.included > 0 ? `, ${price.included} of them included` : ''
  return {
    description: `${nameOfMeter(price.meter)}: ${quantity}${price.meter === 'model_cost' ? ' millionths of a US dollar' : ''}${included}`,
    amount: usageAmount(price, quantity),
    quantity: Math.max(0, quantity - price.included),
    proration: false,
    period_start: period.start.toISOString(),
    period_end: period.end.toISOString(),
    meter: price.meter,
  }
}
