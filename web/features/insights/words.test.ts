import { describe, expect, test } from 'vitest'
import { columnsOf, costWords, dollars, rangeOf, share } from './words.ts'

const NOW = Date.parse('2026-01-31T09:30:00Z')

test('a range consists of whole hours or days, of which the current one is the last', () => {
  expect(rangeOf(1, NOW)).toEqual({ from: '2026-01-30T10:00:00.000Z', bucket: 'hour' })
  expect(rangeOf(7, NOW)).toEqual({ from: '2026-01-25T00:00:00.000Z', bucket: 'day' })
})

test.each([
  [1, 24],
  [7, 7],
  [14, 14],
])('the chart of the last %d days has %d columns', (days, columns) => {
  const { from, bucket } = rangeOf(days, NOW)
  expect(columnsOf([], from, bucket, NOW)).toHaveLength(columns)
})

test.each([
  [0, '$0'],
  [0.00012, '$0.00012'],
  [0.5, '$0.50'],
  [1234.5, '$1,234.50'],
])('%d dollars are formatted as %s', (amount, text) => expect(dollars(amount)).toBe(text))

test.each([
  [{ cost: 0, calls: 0, unpriced_calls: 0 }, '$0'],
  [{ cost: 0.5, calls: 2, unpriced_calls: 0 }, '$0.50'],
  [{ cost: 0.5, calls: 2, unpriced_calls: 1 }, 'at least $0.50'],
  [{ cost: 0, calls: 2, unpriced_calls: 2 }, 'unknown'],
])('%o is shown as the cost %s', (usage, text) => expect(costWords(usage)).toBe(text))

test('a share of zero is shown as a dash', () => {
  expect(share(0, 0)).toBe('–')
  expect(share(1, 3)).toBe('33.3 %')
})

describe('columns', () => {
  const item = { at: '2026-01-30T00:00:00.000Z', total: 7, succeeded: 3, failed: 1, timed_out: 1 }

  test('include days without an execution', () => {
    expect(columnsOf([item], '2026-01-29T09:00:00.000Z', 'day', NOW)).toEqual([
      { label: 'Jan 29', succeeded: 0, failed: 0, other: 0 },
      { label: 'Jan 30', succeeded: 3, failed: 2, other: 2 },
      { label: 'Jan 31', succeeded: 0, failed: 0, other: 0 },
    ])
  })

  test('are hours for a range of one day', () => {
    const hours = columnsOf([], '2026-01-30T09:00:00.000Z', 'hour', NOW)
    expect(hours).toHaveLength(25)
    expect(hours[0]!.label).toBe('09:00')
  })
})
