import { DAY } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { firstIdAt, idsFrom, idsUntil, LAST_ID } from '#platform/ids'

// Executions stand in partitions by week, and a statement opens every week that its bounds of ids allow. Pages are read newest
// first, so the last weeks alone fill most of them: with 57 weeks a search took 13 ms where they were all opened, and 1 with one.

const LAST_WEEKS = 28 * DAY

/** The id that follows: a range from there on leaves out the id itself. */
export const nextId = (id: string): string => {
  if (id === LAST_ID) return LAST_ID
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export const previousId = (id: string): string => {
  const before = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0')
  return before.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export type Listing = {
  oldestFirst: boolean
  /** The last one of the page before. */
  after: string | null
  from: Date | null
  to: Date | null
  limit: number
}

/** The ids that a page can hold, and one row more than it has. */
export function rangeOf({ oldestFirst, after, from, to, limit }: Listing): Range {
  const [first, end] = [idsFrom(from), idsUntil(to)]
  if (after === null) return { from: first, to: end, wanted: limit + 1, oldestFirst }
  return oldestFirst
    ? { from: later(first, nextId(after)), to: end, wanted: limit + 1, oldestFirst }
    : { from: first, to: earlier(end, after), wanted: limit + 1, oldestFirst }
}

const earlier = (a: string, b: string): string => (a < b ? a : b)
const later = (a: string, b: string): string => (a > b ? a : b)

export type Range = { from: string; to: string; wanted: number; oldestFirst?: boolean }

/**
 * At most `wanted` rows with ids from `from` up to, not including, `to`; `read` gives the newest of a range first, or the oldest
 * where those are wanted.
 */
export async function readNewest<Row>(
  range: Range,
  read: (from: string, to: string, limit: number) => Promise<Row[]>,
  now = Date.now(),
): Promise<Row[]> {
  const { from, to, wanted, oldestFirst } = range
  if (oldestFirst) return read(from, to, wanted)
  const lately = firstIdAt(now - LAST_WEEKS)
  if (from >= lately || to <= lately) return read(from, to, wanted)
  const rows = await read(lately, to, wanted)
  if (rows.length >= wanted) return rows
  return [...rows, ...(await read(from, lately, wanted - rows.length))]
}

/**
 * Reads the rows of a statement by indexes that are in its order, no further than its limit. Plans are made without the values: the planner
 * takes any range for a few rows, and would read and sort all of it. Sent together. The plan stays with the connection, so the
 * setting is of this statement alone.
 */
export async function rowsInOrder<Row extends object>(tx: Tx, text: string, values: unknown[]): Promise<Row[]> {
  const [, rows] = await Promise.all([
    tx.rows(`select set_config('enable_sort', 'off', true)`),
    tx.rows<Row>(text, values),
    tx.rows(`select set_config('enable_sort', 'on', true)`),
  ])
  return rows
}
