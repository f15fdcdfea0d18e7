import { DAY } from '#platform/clock'
import type { InvoiceLine } from '../index.ts'

// What is due, and when it is tried again.

/** A payment that failed is tried again this long after the first failure; after the last one the subscription ends. */
const DUNNING = [1 * DAY, 3 * DAY, 7 * DAY]

/** When a payment is tried again that has failed at this time; undefined after the last attempt. */
export function nextAttemptAfter(firstFailedAt: Date, at: Date): Date | undefined {
  const next = DUNNING.map((pause) => firstFailedAt.getTime() + pause).find((time) => time > at.getTime())
  return next === undefined ? undefined : new Date(next)
}

export type Bill = { lines: InvoiceLine[]; due: number; creditLeft: number }

/** Credit is used first; a negative total becomes credit. The lines always add up to what is due. */
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
