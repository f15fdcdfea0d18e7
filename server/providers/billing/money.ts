// Money is whole minor units; nothing here ever holds a fraction of one.

/** The part of an amount that falls on what is left of a period, rounded half up. BigInt: amount × milliseconds passes 2^53. */
export function remainingShare(amount: number, at: Date, start: Date, end: Date): number {
  const whole = BigInt(end.getTime() - start.getTime())
  const left = BigInt(Math.min(Math.max(end.getTime() - at.getTime(), 0), Number(whole)))
  return Number((2n * BigInt(amount) * left + whole) / (2n * whole))
}

/** Currencies differ in how many digits the minor unit has (yen none, dinar three); the platform's own table knows. */
export function formatMoney(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() })
    return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
  } catch {
    return `${amount} ${currency.toUpperCase()}`
  }
}
