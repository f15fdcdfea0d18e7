import { describe, expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import type { InvoiceLine } from '../index.ts'
import { billWithCredit, nextAttemptAfter, percentOf, withTerms } from './bill.ts'
import { periodEndAfter } from './periods.ts'

// Tests the rules of docs/billing.md that need no database.

const line = (amount: number): InvoiceLine => ({
  description: 'Plan',
  amount,
  quantity: 1,
  proration: false,
  period_start: '2026-01-01T00:00:00.000Z',
  period_end: '2026-02-01T00:00:00.000Z',
})
const period = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }

describe('an invoice', () => {
  test.each<[number[], number, number, number, string | undefined]>([
    [[100], 0, 100, 0, undefined],
    [[100], 30, 70, 0, 'Paid from credit'],
    [[100], 100, 0, 0, 'Paid from credit'],
    [[100], 130, 0, 30, 'Paid from credit'],
    [[100, -40], 0, 60, 0, undefined],
    [[100, -140], 0, 0, 40, 'Kept as credit for later invoices'],
    [[100, -140], 5, 0, 45, 'Kept as credit for later invoices'],
    [[1], 1, 0, 0, 'Paid from credit'],
    [[-1], 0, 0, 1, 'Kept as credit for later invoices'],
    [[0], 50, 0, 50, undefined],
    [[], 50, 0, 50, undefined],
  ])('over %j with a credit of %i has %i due and leaves a credit of %i', (amounts, credit, due, left, description) => {
    const bill = billWithCredit(amounts.map(line), credit, period)
    expect([bill.due, bill.creditLeft]).toEqual([due, left])
    expect(bill.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(due)
    expect(bill.lines.slice(amounts.length)).toEqual(
      description === undefined
        ? []
        : [
            {
              ...line(due - amounts.reduce((sum, amount) => sum + amount, 0)),
              description,
            },
          ],
    )
  })
})

test.each<[number, number | undefined]>([
  [0, 1],
  [0.5, 1],
  [1, 3],
  [2, 3],
  [3, 7],
  [6.9, 7],
  [7, undefined],
  [9, undefined],
])('a payment that still fails on day %f is retried on day %s', (day, next) => {
  const first = new Date('2026-01-01')
  const after = (days: number): Date => new Date(first.getTime() + days * DAY)
  expect(nextAttemptAfter(first, after(day))).toEqual(next === undefined ? undefined : after(next))
})

test.each<[string, 'month' | 'year', string, string]>([
  ['2026-01-31', 'month', '2026-01-31', '2026-02-28'],
  ['2026-01-31', 'month', '2026-02-28', '2026-03-31'],
  ['2026-01-31', 'month', '2026-02-27', '2026-02-28'],
  ['2026-01-15', 'month', '2026-01-01', '2026-02-15'],
  ['2026-01-15', 'month', '2027-06-20', '2027-07-15'],
  ['2026-12-15', 'month', '2026-12-20', '2027-01-15'],
  ['2024-02-29', 'year', '2024-02-29', '2025-02-28'],
  ['2024-02-29', 'year', '2027-03-01', '2028-02-29'],
  ['2026-01-15', 'year', '2026-06-01', '2027-01-15'],
])('counted from %s by the %s, the period that contains %s ends on %s', (anchor, interval, at, end) => {
  expect(periodEndAfter(new Date(anchor), interval, new Date(at))).toEqual(new Date(end))
})

test.each([
  [4900, 19, 931],
  [-4900, 19, -931],
  [50, 1, 1],
  [49, 1, 0],
  [-50, 1, -1],
  [1005, 7.7, 77],
  [99_999_999, 100, 99_999_999],
  [1000, 0.125, 1],
  [0, 19, 0],
])('for an amount of %i, %f percent is %i', (amount, percent, share) => {
  expect(percentOf(amount, percent)).toBe(share)
})

test.each([
  ['neither coupon nor tax', [100], null, null, [100]],
  ['a tax', [100], null, 19, [100, 19]],
  ['a coupon before the tax', [100], 50, 19, [100, -50, 10]],
  ['a coupon of 100 percent, which leaves no tax', [100], 100, 19, [100, -100]],
  ['a credit, which reverses the coupon and the tax', [-100], 50, 19, [-100, 50, -10]],
  ['a price of zero', [0], 50, 19, [0]],
  ['no lines', [], 50, 19, []],
])('an invoice with %s', (_what, amounts, percent_off, percent, expected) => {
  const priced = withTerms(amounts.map(line), {
    discount: percent_off === null ? null : { code: 'C', percent_off },
    tax: percent === null ? null : { name: 'VAT', percent },
  })
  expect(priced.map(({ amount }) => amount)).toEqual(expected)
})
