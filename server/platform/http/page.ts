import { jsonSize } from '#model/size'
import { isStorableText } from '#model/storable'
import type { Tx, Values } from '../db/pool.ts'
import { invalid } from '../errors.ts'

// A cursor contains the sort key of the last row of a page, so that pages are stable under inserts.

export type Cursor = readonly (string | number | null)[]

export const encodeCursor = (key: Cursor): string => Buffer.from(JSON.stringify(key)).toString('base64url')

/** Positions and numbers are PostgreSQL integers. This service writes nothing else into a cursor. */
const isInteger = (part: unknown): boolean =>
  typeof part === 'number' && Number.isInteger(part) && Math.abs(part) <= 2 ** 31 - 1

const isText = (part: unknown): boolean => typeof part === 'string' && isStorableText(part)

export const notACursor = () => invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])

/** Returns the content of a cursor, or undefined if this service did not create it. */
export function peekCursor(cursor: string): Cursor | undefined {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(key) && key.every((part) => part === null || isText(part) || isInteger(part)) ? key : undefined
  } catch {
    return undefined
  }
}

/** Returns the key to continue after. Refuses a cursor that does not have `width` values. */
export function decodeCursor(cursor: string | undefined, width: number): Cursor | undefined {
  if (cursor === undefined) return undefined
  const key = peekCursor(cursor)
  if (key?.length === width) return key
  throw notACursor()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const isUuid = (part: unknown): part is string => typeof part === 'string' && uuid.test(part)

/** Returns the id to continue after, for lists sorted only by id (UUIDv7: by time of creation). */
export function decodeIdCursor(cursor: string | undefined): string | null {
  const key = decodeCursor(cursor, 1)
  if (key === undefined) return null
  if (isUuid(key[0])) return key[0]
  throw notACursor()
}

/**
 * The maximum size of a page, for any requested number of rows. A page ends before the row that would exceed it, but
 * has at least one row.
 */
export const MAX_PAGE_BYTES = 1024 * 1024

/**
 * Rows whose size the database has counted, and whether it omitted some. If so, more rows follow although fewer than
 * requested were returned.
 */
const countedRows = new WeakMap<object, { cut: boolean }>()

export type Counted = { page_bytes: string; page_at: string; page_more: boolean; page_size?: number }

/**
 * Reads the rows of a list whose statement has the limit `limit + 1`, in order. Rows beyond the page size stay in the
 * database: two hundred rows of a megabyte each are neither read nor parsed. `sizeOf` is the SQL of a row's size; if it
 * is a column (`page.page_size`), the database does not even unpack the rows that it omits.
 */
export async function pageRows<Row>(
  tx: Pick<Tx, 'rows'>,
  sql: string,
  values: Values,
  sizeOf?: string,
): Promise<Row[]> {
  return rowsOfPage(await tx.rows<Row & Counted>(pageText(sql, sizeOf), values))
}

/** Uses one window for all three values and no sort after it, so that the rows keep the order of the page. */
export const pageText = (sql: string, sizeOf = 'octet_length(page::text)'): string =>
  `with page as materialized (${sql})
   select * from (select page.*, sum(${sizeOf}) over page_rows as page_bytes, row_number() over page_rows as page_at,
     lead(true, 1, false) over page_rows as page_more from page window page_rows as (rows unbounded preceding)) counted
   where page_at = 1 or page_bytes <= ${MAX_PAGE_BYTES}`

/**
 * Returns the rows of a `pageText` statement. `toPage` uses the result to tell whether the database has cut the page.
 */
export function rowsOfPage<Row>(counted: (Row & Counted)[]): Row[] {
  const rows = counted.map(
    ({ page_bytes: _bytes, page_at: _at, page_more: _more, page_size: _size, ...row }) => row as Row,
  )
  countedRows.set(rows, { cut: counted.at(-1)?.page_more ?? false })
  return rows
}

/** Returns how many of the rows fit into a page: the requested number, unless the rows are large. */
function rowsWithin(rows: unknown[], limit: number): number {
  let size = 0
  for (let at = 0; at < Math.min(limit, rows.length); at += 1) {
    size += jsonSize(rows[at], MAX_PAGE_BYTES)
    if (size > MAX_PAGE_BYTES) return Math.max(1, at)
  }
  return limit
}

/** Creates a page from rows that were read with `limit + 1`. */
export function toPage<Row>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => Cursor,
): { items: Row[]; next_cursor: string | null } {
  const counted = countedRows.get(rows)
  const most = counted ? limit : rowsWithin(rows, limit)
  if (rows.length <= most && !counted?.cut) return { items: rows, next_cursor: null }
  const items = rows.slice(0, most)
  return { items, next_cursor: encodeCursor(keyOf(items.at(-1)!)) }
}
