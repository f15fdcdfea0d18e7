import { z } from 'zod'
import type { Tx, Values } from '../db/pool.ts'
import { fromWire, idsFrom, idsUntil, type Prefix, UNKNOWN_ID } from '../ids.ts'
import { type Counted, type Cursor, decodeCursor, isUuid, notACursor, pageText, rowsOfPage, toPage } from './page.ts'
import { listQuery, timestampIn } from './schema.ts'

// Every list is searched, sorted and paged in the same way. Its declaration names the columns; the query parameters,
// the conditions of the statement, its order and its cursor are derived from the declaration.

/** `id`: by the id itself, which is in order of creation. Missing values come last in both directions. */
export type SortBy = 'id' | 'text' | 'time' | 'number'

export type Filter = { cast: string; schema: z.ZodType }

export type ListDeclaration = {
  /** The column that identifies a row. */
  id: string
  idIs?: 'uuid' | 'text' | 'number'
  /** The column with the creation time of a row. Null if there is none. */
  created?: string | null
  /** Columns that `q` searches. */
  search?: readonly string[]
  sort: Record<string, SortBy>
  /** Sort columns that are never null. They are compared unchanged, so that an index can serve the order. */
  present?: readonly string[]
  /**
   * Each row gets a UUIDv7 when it is created: creation times also limit the ids, so that an index skips the other
   * rows.
   */
  idsByTime?: boolean
  /** The default order, such as `-created_at`. */
  order: string
  /** Filters by equality with one of several values. Each is named like its column. */
  filters?: Record<string, Filter>
}

type Searching = {
  q: z.ZodOptional<z.ZodString>
  sort: z.ZodDefault<z.ZodString>
  created_after: z.ZodOptional<ReturnType<typeof timestampIn>>
  created_before: z.ZodOptional<ReturnType<typeof timestampIn>>
}

type QueryOf<Filters> = z.ZodObject<
  (typeof listQuery)['shape'] & Searching & { [Name in keyof Filters]: z.ZodOptional<z.ZodType> },
  z.core.$strict
>

export type List<Filters = unknown> = ListDeclaration & { query: QueryOf<Filters> }

/** The input that a verb gets from the query of a list. */
export type ListInput = {
  limit: number
  cursor?: string | undefined
  q?: string | undefined
  sort?: string | undefined
  created_after?: Date | undefined
  created_before?: Date | undefined
}

const words = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll('_', ' ')).join(names.length === 2 ? ' or ' : ', ')

export function defineList<const Declared extends ListDeclaration>(declared: Declared): List<Declared['filters']> {
  const { search, sort, order, filters = {} } = declared
  const created = createdOf(declared)
  const orders = Object.keys(sort).flatMap((name) => [name, `-${name}`])
  if (!orders.includes(order)) throw new Error(`a list cannot be sorted by ${order}`)
  const shape = {
    ...listQuery.shape,
    ...(search && {
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .describe(`Only those whose ${words(search)} contains this text, ignoring case`),
    }),
    sort: z
      .enum(orders as [string, ...string[]])
      .default(order)
      .describe('The field to sort by; a leading `-` reverses the order. Missing values come last'),
    ...(created !== null && {
      created_after: timestampIn().optional().describe('Only entries created at this time or later'),
      created_before: timestampIn().optional().describe('Only entries created before this time'),
    }),
    ...Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema.optional()])),
  }
  return { ...declared, query: z.strictObject(shape) as never }
}

const createdOf = ({ created }: ListDeclaration): string | null => (created === undefined ? 'created_at' : created)

/** A comma-separated list of words, any of which matches. */
const several = <Word extends z.ZodType<unknown, string>>(word: Word) =>
  z
    .string()
    .max(500)
    .transform((text) => text.split(','))
    .pipe(z.array(word).min(1).max(50))

export const anyOf = (values: readonly string[]): Filter => ({
  cast: 'text[]',
  schema: several(z.enum(values)).describe(`One of ${values.join(', ')}, or several, separated by commas`),
})

export const anyText = (about: string): Filter => ({
  cast: 'text[]',
  schema: several(z.string().min(1).max(200)).describe(about),
})

export const anyId = (prefix: Prefix, about: string): Filter => ({
  cast: 'uuid[]',
  schema: several(z.string())
    .transform((texts) => texts.map((text) => fromWire(prefix, text) ?? UNKNOWN_ID))
    .describe(about),
})

export const flag = (about: string): Filter => ({
  cast: 'boolean[]',
  schema: z
    .enum(['true', 'false'])
    .transform((text) => [text === 'true'])
    .describe(about),
})

const castOf = { id: 'uuid', text: 'text', time: 'timestamptz', number: 'numeric' } as const

type Order = { by: SortBy; column: string; descending: boolean; present: boolean }

function orderOf(list: List, asked = list.order): Order {
  const descending = asked.startsWith('-')
  const name = descending ? asked.slice(1) : asked
  const by = list.sort[name]
  if (by === undefined) throw new Error(`a list cannot be sorted by ${asked}`)
  // The column of the creation time may have another name.
  const column = name === 'created_at' ? (createdOf(list) ?? name) : name
  return { by, column, descending, present: list.present?.includes(name) ?? false }
}

/** Returns the SQL of the sort key. It is never null, so that rows can be compared with the key of the cursor. */
function keyOf({ by, column, descending, present }: Order): string | undefined {
  const last = descending ? '-infinity' : 'infinity'
  if (by === 'id') return undefined
  if (present) return `listed.${column}`
  // No text sorts after all others in every collation, so a leading digit tells whether there is a text.
  if (by === 'text')
    return `case when listed.${column} is null then '${descending ? 0 : 1}' else '${descending ? 1 : 0}' || lower(listed.${column}::text) end`
  return `coalesce(listed.${column}::${castOf[by]}, '${last}')`
}

const idCast = ({ idIs = 'uuid' }: List): string => ({ uuid: 'uuid', text: 'text', number: 'integer' })[idIs]

function positionOf(list: List, order: Order, cursor: string | undefined): Cursor | undefined {
  const position = decodeCursor(cursor, order.by === 'id' ? 1 : 2)
  if (position === undefined) return undefined
  const id = position.at(-1)
  const isId = { uuid: isUuid(id), text: typeof id === 'string', number: typeof id === 'number' }[list.idIs ?? 'uuid']
  if (!isId || (position.length === 2 && typeof position[0] !== 'string')) throw notACursor()
  return position
}

/**
 * Keeps the number of different statements small: a statement contains either no filter or all filters, with null for
 * those that are not used.
 */
function conditionsOf(
  list: List,
  input: ListInput & Record<string, unknown>,
  add: (value: unknown) => string,
): string[] {
  const created = createdOf(list)
  const given = [
    input.q,
    input.created_after,
    input.created_before,
    ...Object.keys(list.filters ?? {}).map((n) => input[n]),
  ]
  if (given.every((value) => value === undefined)) return []
  const conditions: string[] = []
  if (list.search) {
    const q = add(input.q ?? null)
    const found = list.search.map((column) => `strpos(lower(listed.${column}::text), lower(${q}::text)) > 0`)
    conditions.push(`(${q}::text is null or ${found.join(' or ')})`)
  }
  if (created !== null) {
    const [after, before] = [add(input.created_after ?? null), add(input.created_before ?? null)]
    conditions.push(`(${after}::timestamptz is null or listed.${created} >= ${after})`)
    conditions.push(`(${before}::timestamptz is null or listed.${created} < ${before})`)
    if (list.idsByTime) {
      const [from, until] = [add(idsFrom(input.created_after)), add(idsUntil(input.created_before))]
      conditions.push(`listed.${list.id} >= ${from}::uuid and listed.${list.id} <= ${until}::uuid`)
    }
  }
  for (const [name, { cast }] of Object.entries(list.filters ?? {})) {
    const values = add(input[name] ?? null)
    conditions.push(`(${values}::${cast} is null or listed.${name} = any (${values}::${cast}))`)
  }
  return conditions
}

/** `sql` contains neither order nor limit, and its columns are those of the declaration. */
export type ListSource = {
  sql: string
  /**
   * The list is read once for each row of this statement, at most one page each time, and may refer to that row as
   * `each`.
   */
  each?: string
  /** The SQL of the number of bytes that a row counts against the page limit (see `pageRows`). */
  size?: string
}

type Asked = {
  order: Order
  limit: number
  position?: Cursor | undefined
  filters: ListInput & Record<string, unknown>
}

/** Appends the values that the conditions need to `values`. */
function listText(list: List, { sql, each, size }: ListSource, asked: Asked, values: unknown[]): string {
  const { order, position } = asked
  const key = keyOf(order)
  const add = (value: unknown): string => `$${values.push(value)}`
  const conditions = conditionsOf(list, asked.filters, add)
  const direction = order.descending ? 'desc' : 'asc'
  if (position) {
    const sign = order.descending ? '<' : '>'
    const id = `${add(position.at(-1))}::${idCast(list)}`
    conditions.push(
      key === undefined
        ? `listed.${list.id} ${sign} ${id}`
        : `(${key}, listed.${list.id}) ${sign} (${add(position[0])}::${castOf[order.by]}, ${id})`,
    )
  }
  const sorted = (from: string): string =>
    `order by ${key === undefined ? '' : `${from}.page_sort ${direction}, `}${from}.${list.id} ${direction} limit ${planned(asked.limit)}`
  const [sortColumn, keyColumn] =
    key === undefined ? ['', ''] : [`, ${key} as page_sort`, ', found.page_sort::text as page_key']
  const text = `select found.*${keyColumn} from (
      select listed.*${sortColumn} from (${sql}) listed ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
    ) found ${sorted('found')}`
  const spread =
    each === undefined ? text : `select per.* from (${each}) each cross join lateral (${text}) per ${sorted('per')}`
  return pageText(`select * from (${spread}) bounded limit ${add(asked.limit + 1)}`, size)
}

/** Returns the page of the source's rows that the query asks for. */
export async function readList<Row extends object>(
  tx: Pick<Tx, 'rows'>,
  list: List,
  asked: ListInput,
  { values, ...source }: ListSource & { values: Values },
): Promise<{ items: Row[]; next_cursor: string | null }> {
  const { limit } = asked
  const order = orderOf(list, asked.sort)
  const position = positionOf(list, order, asked.cursor)
  const all: unknown[] = [...values]
  const text = listText(list, source, { order, limit, position, filters: asked as Asked['filters'] }, all)
  type Keyed = Row & Counted & { page_sort?: unknown; page_key?: string }
  const counted = await tx.rows<Keyed>(text, all).catch((error: unknown) => {
    throw position !== undefined && isUnreadable(error) ? notACursor() : error
  })
  const page = toPage(rowsOfPage(counted), limit, (row) => [
    ...(order.by === 'id' ? [] : [row.page_key ?? null]),
    (row as Record<string, unknown>)[list.id] as string,
  ])
  return { ...page, items: page.items.map(({ page_sort: _sort, page_key: _key, ...row }) => row as unknown as Row) }
}

/**
 * Returns the statements for every order of a list, without filters, and with all filters and a cursor. `npm run check`
 * lets PostgreSQL check them.
 */
export function textsOfList(list: List, source: ListSource): string[] {
  const taken = [...`${source.sql} ${source.each}`.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n))
  const values = (): unknown[] => Array.from({ length: Math.max(0, ...taken) })
  const limit = 50
  return Object.keys(list.sort).flatMap((name) =>
    [name, `-${name}`].flatMap((sort) => {
      const order = orderOf(list, sort)
      const position = order.by === 'id' ? [null] : [null, null]
      const filters = { limit, created_after: new Date(0) }
      return [
        listText(list, source, { order, limit, filters: { limit } }, values()),
        listText(list, source, { order, limit, position, filters }, values()),
      ]
    }),
  )
}

/**
 * The planner assumes that a limit given as a parameter is a tenth of all rows, and then sorts 20,000 rows to show 50.
 * It knows a limit in the text. Using only a few limits keeps the number of statements small. The parameter limits what
 * is read.
 */
const planned = (limit: number): number => (limit <= 50 ? 51 : limit <= 200 ? 201 : limit + 1)

/**
 * Checks whether the database could not parse the position as a time, number or id, because this service did not create
 * the cursor.
 */
const isUnreadable = (error: unknown): boolean =>
  ['22007', '22008', '22003', '22P02'].includes((error as { code?: string }).code ?? '')
