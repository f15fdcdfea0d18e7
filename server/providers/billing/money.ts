// Amounts of money are whole minor units. No function here returns a fraction of a minor unit.

/**
 * Returns the part of an amount for the rest of a period, rounded half up. BigInt: amount × milliseconds exceeds 2^53.
 */
export function remainingShare(amount: number, at: Date, start: Date, end: Date): number {
  const whole = BigInt(end.getTime() - start.getTime())
  const left = BigInt(Math.min(Math.max(end.getTime() - at.getTime(), 0), Number(whole)))
  return Number((2n * BigInt(amount) * left + whole) / (2n * whole))
}

/** Formats an amount. Intl knows the number of digits of each currency's minor unit (yen none, dinar three). */
export function formatMoney(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() })
    return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
  } catch {
    return `${amount} ${currency.toUpperCase()}`
  }
}
