import { type Cursor, decodeCursor, isTimeInCursor, isUuid, notACursor } from '#platform/http/page'

// Lists sorted by time and then by id, newest first.

export type TimeKey = readonly [at: string, id: string] | null

/** To the millisecond: rows are written by the program, whose times have no more digits. */
export const timeCursor = (at: Date | string, id: string): Cursor => [new Date(at).toISOString(), id]

export function decodeTimeCursor(cursor: string | undefined): TimeKey {
  const key = decodeCursor(cursor, 2)
  if (key === undefined) return null
  const [at, id] = key
  if (isTimeInCursor(at) && isUuid(id)) return [at, id]
  throw notACursor()
}
