import { invalid } from '#platform/errors'
import { type Cursor, decodeCursor } from '#platform/http/page'

// Lists sorted by time and then by id, newest first.

export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)

export type TimeKey = readonly [at: string, id: string] | null

/** To the millisecond: rows are written by the program, whose times have no more digits. */
export const timeCursor = (at: Date | string, id: string): Cursor => [new Date(at).toISOString(), id]

export function decodeTimeCursor(cursor: string | undefined): TimeKey {
  const key = decodeCursor(cursor, 2)
  if (key === undefined) return null
  const [at, id] = key
  if (typeof at === 'string' && !Number.isNaN(Date.parse(at)) && isUuid(id)) return [new Date(at).toISOString(), id]
  throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
}
