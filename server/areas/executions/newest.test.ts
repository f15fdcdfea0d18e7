import { expect, test } from 'vitest'
import { DAY, HOUR } from '#platform/clock'
import { FIRST_ID, firstIdAt, LAST_ID } from '#platform/ids'
import { nextId, rangeOf, readNewest } from './newest.ts'

const now = Date.UTC(2026, 10, 16)
const daysAgo = (days: number): string => firstIdAt(now - days * DAY)

/**
 * One execution for each of these days. `read` acts like a list query and records the ranges that it was called with.
 */
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
  ['no executions', [], whole, 5, [], 2],
  ['a page that starts before the last weeks', [1, 100, 200], { from: FIRST_ID, to: daysAgo(50) }, 5, [100, 200], 1],
  ['a search that ends within the last weeks', [1, 20, 100], { from: daysAgo(10), to: LAST_ID }, 5, [1], 1],
])('reading the newest: %s', async (_name, days, range, wanted, expected, reads) => {
  const { ranges, read } = over(days)
  expect(await readNewest({ ...range, wanted }, read, now)).toEqual(expected.map(daysAgo))
  expect(ranges).toHaveLength(reads)
})

test.each([
  ['019a8c00-0000-7000-8000-000000000000', '019a8c00-0000-7000-8000-000000000001'],
  ['019a8c00-0000-7000-8fff-ffffffffffff', '019a8c00-0000-7000-9000-000000000000'],
  [FIRST_ID, '00000000-0000-0000-0000-000000000001'],
  [LAST_ID, LAST_ID],
])('the id after %s is %s', (id, next) => {
  expect(nextId(id)).toBe(next)
})

const [march, april] = [Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 1)]
const asked = { from: new Date(march), to: new Date(april), limit: 2 }
const inMarch = firstIdAt(march + DAY)

test.each([
  ['the first page', { oldestFirst: false, after: null }, firstIdAt(march - HOUR), firstIdAt(april + HOUR)],
  ['the next page, newest first', { oldestFirst: false, after: inMarch }, firstIdAt(march - HOUR), inMarch],
  ['the next page, oldest first', { oldestFirst: true, after: inMarch }, nextId(inMarch), firstIdAt(april + HOUR)],
  [
    'a position before the range',
    { oldestFirst: true, after: FIRST_ID },
    firstIdAt(march - HOUR),
    firstIdAt(april + HOUR),
  ],
  [
    'a position after the range',
    { oldestFirst: false, after: LAST_ID },
    firstIdAt(march - HOUR),
    firstIdAt(april + HOUR),
  ],
])('the range of ids of %s', (_name, at, from, to) => {
  expect(rangeOf({ ...asked, ...at })).toEqual({ from, to, wanted: 3, oldestFirst: at.oldestFirst })
})

test('the oldest are read with one query, starting with the first week', async () => {
  const { ids, ranges } = over([1, 100, 200])
  const read = async (from: string, to: string, limit: number): Promise<string[]> => {
    ranges.push([from, to, limit])
    return ids.toReversed().slice(0, limit)
  }
  expect(await readNewest({ ...whole, wanted: 2, oldestFirst: true }, read, now)).toEqual([daysAgo(200), daysAgo(100)])
  expect(ranges).toEqual([[FIRST_ID, LAST_ID, 2]])
})
