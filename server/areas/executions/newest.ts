import { DAY } from '#platform/clock'

// Executions stand in partitions by week, and a statement opens every week that its bounds of ids allow. Pages are read newest
// first, so the last weeks alone fill most of them: with 57 weeks a search took 13 ms where they were all opened, and 1 with one.

export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The smallest id of a moment: a UUIDv7 begins with its time. */
export const firstIdAt = (ms: number): string => {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${FIRST_ID.slice(13)}`
}

const LAST_WEEKS = 28 * DAY

/** At most `wanted` rows with ids from `from` up to, not including, `to`; `read` gives the newest of a range first. */
export async function readNewest<Row>(
  range: { from: string; to: string; wanted: number },
  read: (from: string, to: string, limit: number) => Promise<Row[]>,
  now = Date.now(),
): Promise<Row[]> {
  const { from, to, wanted } = range
  const lately = firstIdAt(now - LAST_WEEKS)
  if (from >= lately || to <= lately) return read(from, to, wanted)
  const rows = await read(lately, to, wanted)
  if (rows.length >= wanted) return rows
  return [...rows, ...(await read(from, lately, wanted - rows.length))]
}
