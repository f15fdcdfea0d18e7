import { jsonSize } from '#model/size'
import type { Tx, Values } from '../db/pool.ts'
import { invalid } from '../errors.ts'

// Cursors hold the sort key of the last row seen, so that a page is stable under inserts.

export type Cursor = readonly (string | number | null)[]

export const encodeCursor = (key: Cursor): string => Buffer.from(JSON.stringify(key)).toString('base64url')

/** Positions and numbers are integers of PostgreSQL; anything else was not written by us. */
const isStorable = (part: unknown): boolean =>
  typeof part === 'number' && Number.isInteger(part) && Math.abs(part) <= 2 ** 31 - 1

const isText = (part: unknown): boolean => typeof part === 'string' && part.isWellFormed() && !part.includes('\0')

export const notACursor = () => invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])

/** What a cursor holds; undefined where we have not written it. */
export function peekCursor(cursor: string): Cursor | undefined {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(key) && key.every((part) => part === null || isText(part) || isStorable(part))
      ? key
      : undefined
  } catch {
    return undefined
  }
}

/** The key to continue after; `width` values or a refusal. */
export function decodeCursor(cursor: string | undefined, width: number): Cursor | undefined {
  if (cursor === undefined) return undefined
  const key = peekCursor(cursor)
  if (key?.length === width) return key
  throw notACursor()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const isUuid = (part: unknown): part is string => typeof part === 'string' && uuid.test(part)

/** The id to continue after, for lists sorted by id alone (UUIDv7: by time of creation). */
export function decodeIdCursor(cursor: string | undefined): string | null {
  const key = decodeCursor(cursor, 1)
  if (key === undefined) return null
  if (isUuid(key[0])) return key[0]
  throw notACursor()
}

/** A page ends with the row that takes it past this many bytes, however many rows were asked for. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** Rows that the database has counted, and whether it left some out: they follow although fewer than asked for came. */
const countedRows = new WeakMap<object, { cut: boolean }>()

export type Counted = { page_bytes: string; page_at: string; page_more: boolean; page_size?: number }

/**
 * Rows of a list, asked for with `limit + 1` in their order. What would take the page past its bytes is left in the database:
 * two hundred rows of a megabyte each are neither read nor parsed. `sizeOf` is what a row counts, in SQL; where that
 * is a column (`page.page_size`), the database does not even unpack the rows that it leaves out.
 */
export async function pageRows<Row>(
  tx: Pick<Tx, 'rows'>,
  sql: string,
  values: Values,
  sizeOf?: string,
): Promise<Row[]> {
  return rowsOfPage(await tx.rows<Row & Counted>(pageText(sql, sizeOf), values))
}

/** One window for all three, and no sort after it: the rows stay in the order in which the page has them. */
export const pageText = (sql: string, sizeOf = 'octet_length(page::text)'): string =>
  `with page as materialized (${sql})
   select * from (select page.*, sum(${sizeOf}) over page_rows as page_bytes, row_number() over page_rows as page_at,
     lead(true, 1, false) over page_rows as page_more from page window page_rows as (rows unbounded preceding)) counted
   where page_at = 1 or page_bytes <= ${MAX_PAGE_BYTES}`

/** The rows that `pageText` gave. `toPage` learns from them whether the database has cut the page. */
export function rowsOfPage<Row>(counted: (Row & Counted)[]): Row[] {
  const rows = counted.map(
    ({ page_bytes: _bytes, page_at: _at, page_more: _more, page_size: _size, ...row }) => row as Row,
  )
  countedRows.set(rows, { cut: counted.at(-1)?.page_more ?? false })
  return rows
}

/** How many of the rows a page holds: as many as asked for, unless they are large. */
function rowsWithin(rows: unknown[], limit: number): number {
  let size = 0
  for (let at = 0; at < Math.min(limit, rows.length); at += 1) {
    size += jsonSize(rows[at], MAX_PAGE_BYTES)
    if (size > MAX_PAGE_BYTES) return Math.max(1, at)
  }
  return limit
}

/** Makes a page of rows that were asked for with `limit + 1`. */
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
