import { DAY } from '#platform/clock'
import type { InvoiceLine, Tax } from '../index.ts'

// Computes the amount due and the time of the next payment attempt.

/**
 * The delays between the first failure of a payment and its retries. After the last retry fails, the subscription ends.
 */
const DUNNING = [1 * DAY, 3 * DAY, 7 * DAY]

/** Returns the time of the next attempt for a payment that failed at `at`. Undefined after the last attempt. */
export function nextAttemptAfter(firstFailedAt: Date, at: Date): Date | undefined {
  const next = DUNNING.map((pause) => firstFailedAt.getTime() + pause).find((time) => time > at.getTime())
  return next === undefined ? undefined : new Date(next)
}

/** Returns a percentage of an amount, rounded half away from zero. The percentage has up to three decimals. */
export function percentOf(amount: number, percent: number): number {
  const product = BigInt(Math.abs(amount)) * BigInt(Math.round(percent * 1000))
  const share = Number((2n * product + 100_000n) / 200_000n)
  return amount < 0 ? -share : share
}

export type Terms = { discount: { code: string; percent_off: number } | null; tax: Tax | null }

/** Adds the plan's coupon and tax to the lines of one plan, each as a separate line. */
export function withTerms(lines: InvoiceLine[], { discount, tax }: Terms): InvoiceLine[] {
  const [first] = lines
  if (!first) return lines
  const priced = [...lines]
  const add = (description: string, amount: number): void => {
    const { proration, period_start, period_end } = first
    if (amount !== 0) priced.push({ description, amount, quantity: 1, proration, period_start, period_end })
  }
  const total = (): number => priced.reduce((sum, { amount }) => sum + amount, 0)
  if (discount) add(`Coupon ${discount.code}, ${discount.percent_off}% off`, -percentOf(total(), discount.percent_off))
  if (tax) add(`${tax.name}, ${tax.percent}%`, percentOf(total(), tax.percent))
  return priced
}

export type Bill = { lines: InvoiceLine[]; due: number; creditLeft: number }

/** Uses credit first; a negative total becomes credit. The lines always add up to the amount due. */
export function billWithCredit(given: InvoiceLine[], credit: number, period: { start: Date; end: Date }): Bill {
  const total = given.reduce((sum, line) => sum + line.amount, 0)
  const used = Math.min(credit, total)
  const line: InvoiceLine = {
    description: used > 0 ? 'Paid from credit' : 'Kept as credit for later invoices',
    amount: -used,
    quantity: 1,
    proration: false,
    period_start: period.start.toISOString(),
    period_end: period.end.toISOString(),
  }
  return { lines: used === 0 ? given : [...given, line], due: total - used, creditLeft: credit - used }
}
