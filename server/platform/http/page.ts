import { invalid } from '../errors.ts'

// Cursors hold the sort key of the last row seen, so that a page is stable under inserts.

export type Cursor = readonly (string | number | null)[]

const encodeCursor = (key: Cursor): string => Buffer.from(JSON.stringify(key)).toString('base64url')

/** Positions and numbers are integers of PostgreSQL; anything else was not written by us. */
const isStorable = (part: unknown): boolean =>
  typeof part === 'number' && Number.isInteger(part) && Math.abs(part) <= 2 ** 31 - 1

const isText = (part: unknown): boolean => typeof part === 'string' && part.isWellFormed() && !part.includes('\0')

export const notACursor = () => invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])

/** The key to continue after; `width` values or a refusal. */
export function decodeCursor(cursor: string | undefined, width: number): Cursor | undefined {
  if (cursor === undefined) return undefined
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (
      Array.isArray(key) &&
      key.length === width &&
      key.every((part) => part === null || isText(part) || isStorable(part))
    )
      return key
  } catch {
    // refused below
  }
  throw notACursor()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const isUuid = (part: unknown): part is string => typeof part === 'string' && uuid.test(part)

/** As the program writes it, in years that PostgreSQL reads as JavaScript writes them. */
export const isTimeInCursor = (part: unknown): part is string =>
  typeof part === 'string' && /^[2-9]\d{3}-/.test(part) && part === new Date(Date.parse(part) || 0).toISOString()

/** The id to continue after, for lists sorted by id alone (UUIDv7: by time of creation). */
export function decodeIdCursor(cursor: string | undefined): string | null {
  const key = decodeCursor(cursor, 1)
  if (key === undefined) return null
  if (isUuid(key[0])) return key[0]
  throw notACursor()
}

/** The number to continue after, for lists sorted by one. */
export function decodeNumberCursor(cursor: string | undefined): number | null {
  const key = decodeCursor(cursor, 1)
  if (key === undefined) return null
  if (typeof key[0] === 'number') return key[0]
  throw notACursor()
}

/** For lists sorted by a due time, those without one last, then by id. */
export function decodeDueCursor(cursor: string | undefined): readonly [dueAt: string | null, id: string] | null {
  const key = decodeCursor(cursor, 2)
  if (key === undefined) return null
  const [dueAt, id] = key
  if ((dueAt === null || isTimeInCursor(dueAt)) && isUuid(id)) return [dueAt, id]
  throw notACursor()
}

/** Makes a page of rows that were asked for with `limit + 1`. */
export function toPage<Row>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => Cursor,
): { items: Row[]; next_cursor: string | null } {
  if (rows.length <= limit) return { items: rows, next_cursor: null }
  const items = rows.slice(0, limit)
  return { items, next_cursor: encodeCursor(keyOf(items[limit - 1]!)) }
}
