import { describe, expect, test } from 'vitest'
import { formatMoney, remainingShare } from '../money.ts'
import { periodEndAfter } from './periods.ts'

const day = (text: string): Date => new Date(`${text}T10:00:00.000Z`)

describe('periods', () => {
  test('an anchor on the 31st ends on the last day of shorter months and on the 31st of longer months', () => {
    const anchor = day('2026-01-31')
    const ends = []
    let at = anchor
    for (let count = 0; count < 4; count++) {
      at = periodEndAfter(anchor, 'month', at)
      ends.push(at.toISOString().slice(0, 10))
    }
    expect(ends).toEqual(['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'])
  })

  test('an anchor on the leap day ends on February 28, or on February 29 in a leap year', () => {
    const anchor = day('2028-02-29')
    expect(periodEndAfter(anchor, 'year', anchor)).toEqual(day('2029-02-28'))
    expect(periodEndAfter(anchor, 'year', day('2031-06-01'))).toEqual(day('2032-02-29'))
  })

  test('the end of a period is always later than the time it is computed for', () => {
    for (let hours = 0; hours < 24 * 800; hours += 7) {
      const after = new Date(day('2026-01-30').getTime() + hours * 3_600_000)
      for (const interval of ['month', 'year'] as const)
        expect(periodEndAfter(day('2026-01-30'), interval, after).getTime()).toBeGreaterThan(after.getTime())
    }
  })
})

describe('money', () => {
  test('the remaining share of a period is a whole number and never exceeds the full amount', () => {
    const [start, end] = [day('2026-01-01'), day('2026-02-01')]
    expect(remainingShare(3100, start, start, end)).toBe(3100)
    expect(remainingShare(3100, end, start, end)).toBe(0)
    expect(remainingShare(3100, day('2026-01-11'), start, end)).toBe(2100)
    expect(remainingShare(99_999_999, new Date(start.getTime() + 1000), start, end)).toBe(99_999_962)
    expect(remainingShare(1, new Date((start.getTime() + end.getTime()) / 2), start, end)).toBe(1)
    expect(remainingShare(3100, day('2027-01-01'), start, end)).toBe(0)
    expect(remainingShare(3100, day('2025-01-01'), start, end)).toBe(3100)
  })

  test('each currency is formatted with its own number of decimals', () => {
    expect(formatMoney(123_456, 'eur')).toBe('€1,234.56')
    expect(formatMoney(500, 'jpy')).toBe('¥500')
    expect(formatMoney(-50, 'usd')).toBe('-$0.50')
  })
})
