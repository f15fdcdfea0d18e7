import { expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import { FIRST_ID, firstIdAt, LAST_ID, readNewest } from './newest.ts'

const now = Date.UTC(2026, 10, 16)
const daysAgo = (days: number): string => firstIdAt(now - days * DAY)

/** One execution for each of these days; answers as a list does, and says which ranges were read. */
const over = (days: number[]) => {
  const ids = days.map(daysAgo).sort().reverse()
  const ranges: [string, string, number][] = []
  const read = async (from: string, to: string, limit: number): Promise<string[]> => {
    ranges.push([from, to, limit])
    return ids.filter((id) => id >= from && id < to).slice(0, limit)
  }
  return { ids, ranges, read }
}

const whole = { from: FIRST_ID, to: LAST_ID }

test.each([
  ['enough in the last weeks', [1, 2, 3, 100], whole, 2, [1, 2], 1],
  ['too few in the last weeks', [1, 100, 200], whole, 3, [1, 100, 200], 2],
  ['none in the last weeks', [100, 200], whole, 1, [100], 2],
  ['none at all', [], whole, 5, [], 2],
  ['a page that begins before the last weeks', [1, 100, 200], { from: FIRST_ID, to: daysAgo(50) }, 5, [100, 200], 1],
  ['a search that ends within the last weeks', [1, 20, 100], { from: daysAgo(10), to: LAST_ID }, 5, [1], 1],
])('%s', async (_name, days, range, wanted, expected, reads) => {
  const { ranges, read } = over(days)
  expect(await readNewest({ ...range, wanted }, read, now)).toEqual(expected.map(daysAgo))
  expect(ranges).toHaveLength(reads)
})
