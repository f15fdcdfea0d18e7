import type { Json } from '#model/definition'
import { messageOf } from './common.ts'
import { type Executed, type Rows, type RowWriter, type Statement, WarehouseFailure, type Work } from './index.ts'

// Generates statements that write rows. All values are parameters; names of tables and columns are quoted, and refused
// if they contain a character that could end the quotes.

export type Dialect = {
  transaction: boolean
  /** The maximum number of parameters in one statement. */
  maxParameters: number
  quote: { open: string; close: string }
  /** Returns the n-th parameter of a statement, counted from 1. */
  parameter(n: number): string
  /** The maximum number of rows in one statement, if the vendor accepts fewer than the default. */
  maxRows?: number
  upsert: 'on conflict' | 'on duplicate key' | 'delete and insert' | Merge
}

/** The parts of `merge into …` that differ between vendors. */
export type Merge = {
  /** Returns the rows as a table: `rows` contains the markers of each row, `columns` the quoted names. */
  source(rows: string[][], columns: string[]): string
  hint?: string
  end?: string
}

const MAX_ROWS = 1_000
const name = /^[\p{L}_][\p{L}\p{N}_$ -]{0,127}$/u

const refuse = (message: string): WarehouseFailure => new WarehouseFailure('write', message, 'nothing')

const quoter =
  ({ quote }: Pick<Dialect, 'quote'>) =>
  (column: string): string => {
    if (!name.test(column)) throw refuse(`"${column.slice(0, 100)}" is not the name of a column`)
    return `${quote.open}${column}${quote.close}`
  }

function quoteTable({ quote }: Pick<Dialect, 'quote'>, table: string): string {
  const parts = table.split('.')
  if (parts.length > 3 || !parts.every((part) => name.test(part)))
    throw refuse(`"${table.slice(0, 100)}" is not the name of a table`)
  return parts.map((part) => `${quote.open}${part}${quote.close}`).join('.')
}

const parameterOf = (value: Json): Json => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)

/** Returns the markers of each row, and the values in order. */
function markersOf(dialect: Dialect, rows: Json[][]): { markers: string[][]; params: Json[] } {
  const params: Json[] = []
  const marker = (value: Json): string => {
    params.push(parameterOf(value))
    return dialect.parameter(params.length)
  }
  return { markers: rows.map((row) => row.map(marker)), params }
}

/** Returns `(?, ?), (?, ?)`. */
export const tuples = (rows: string[][]): string => rows.map((row) => `(${row.join(', ')})`).join(', ')

export function portionsOf<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))
}

function upsertOf(dialect: Dialect, { table, columns, key }: Rows, rows: Json[][]): Statement[] {
  const q = quoter(dialect)
  const into = quoteTable(dialect, table)
  const list = columns.map(q).join(', ')
  const { markers, params } = markersOf(dialect, rows)
  const insert = `insert into ${into} (${list}) values ${tuples(markers)}`
  const of = { table, columns }
  if (key.length === 0) return [{ text: insert, params, of }]
  const rest = columns.filter((column) => !key.includes(column))
  if (typeof dialect.upsert === 'object') {
    const { hint = '', source, end = '' } = dialect.upsert
    const on = key.map((column) => `target.${q(column)} = source.${q(column)}`).join(' and ')
    const sets = rest.map((column) => `${q(column)} = source.${q(column)}`).join(', ')
    const update = rest.length === 0 ? '' : ` when matched then update set ${sets}`
    const add = columns.map((column) => `source.${q(column)}`).join(', ')
    const using = source(markers, columns.map(q))
    return [
      {
        text: `merge into ${into}${hint} as target using ${using} on ${on}${update} when not matched then insert (${list}) values (${add})${end}`,
        params,
        of,
      },
    ]
  }
  switch (dialect.upsert) {
    case 'on conflict': {
      const sets = rest.map((column) => `${q(column)} = excluded.${q(column)}`).join(', ')
      const then = rest.length === 0 ? 'do nothing' : `do update set ${sets}`
      return [{ text: `${insert} on conflict (${key.map(q).join(', ')}) ${then}`, params, of }]
    }
    case 'on duplicate key': {
      const changed = rest.length === 0 ? key : rest
      const sets = changed.map((column) => `${q(column)} = values(${q(column)})`).join(', ')
      return [{ text: `${insert} on duplicate key update ${sets}`, params, of }]
    }
    case 'delete and insert': {
      const at = key.map((column) => columns.indexOf(column))
      const keys: Json[] = []
      const where = rows.map((row) => {
        const parts = at.map((index, n) => {
          keys.push(parameterOf(row[index]!))
          return `${q(key[n]!)} = ${dialect.parameter(keys.length)}`
        })
        return `(${parts.join(' and ')})`
      })
      return [
        { text: `delete from ${into} where ${where.join(' or ')}`, params: keys },
        { text: insert, params, of },
      ]
    }
  }
}

/**
 * Refuses what every vendor refuses: rows without columns, keys that are not columns of the rows, and names that could
 * end their quotes.
 */
export function quoteNames(
  quote: Dialect['quote'],
  { table, columns, key }: Pick<Rows, 'table' | 'columns' | 'key'>,
): { table: string; columns: string[]; key: string[] } {
  if (columns.length === 0) throw refuse('the rows have no columns')
  for (const column of key)
    if (!columns.includes(column)) throw refuse(`the rows have no key column "${column.slice(0, 100)}"`)
  const q = quoter({ quote })
  return { table: quoteTable({ quote }, table), columns: columns.map(q), key: key.map(q) }
}

export function writingIn(dialect: Dialect): RowWriter {
  return {
    transaction: dialect.transaction,
    statementsFor(wanted) {
      const { columns, rows } = wanted
      quoteNames(dialect.quote, wanted)
      if (columns.length > dialect.maxParameters) throw refuse(`more than ${dialect.maxParameters} columns`)
      const size = Math.max(
        1,
        Math.min(dialect.maxRows ?? MAX_ROWS, Math.floor(dialect.maxParameters / columns.length)),
      )
      return portionsOf(rows, size).flatMap((some) => upsertOf(dialect, wanted, some))
    },
  }
}

/**
 * Runs statements one after the other, for vendors without transactions. Statements that ran before a failure remain in
 * effect. `isRefusal` detects that the server refused a statement before it changed anything.
 */
export async function executeOneByOne(
  run: (statement: Statement) => Promise<number | null>,
  work: Work,
  isRefusal: (error: unknown) => boolean,
): Promise<Executed> {
  const affected: (number | null)[] = []
  if (work.signal.aborted) throw new WarehouseFailure('write', 'it was cancelled', 'nothing')
  await work.beyond()
  for (const statement of work.statements) {
    try {
      work.signal.throwIfAborted()
      affected.push(await run(statement))
    } catch (error) {
      if (error instanceof WarehouseFailure && error.step === 'sign_in') throw error
      const message = work.signal.aborted ? 'it was cancelled' : messageOf(error)
      throw new WarehouseFailure('write', message, affected.length === 0 && isRefusal(error) ? 'nothing' : 'unknown')
    }
  }
  return { affected }
}

/** One open connection that is signed in. */
export type WriteSession = {
  begin(): Promise<unknown>
  /** Returns the number of changed rows. Null if the server does not report it. */
  run(statement: Statement): Promise<number | null>
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
}

/** Runs all statements atomically. A failure before the commit is sent has changed nothing. */
export async function executeInTransaction(session: WriteSession, work: Work): Promise<Executed> {
  const affected: (number | null)[] = []
  try {
    await session.begin()
    for (const statement of work.statements) affected.push(await session.run(statement))
    work.signal.throwIfAborted()
    await work.beyond()
  } catch (error) {
    await session.rollback().catch(() => {})
    throw new WarehouseFailure('write', work.signal.aborted ? 'it was cancelled' : messageOf(error), 'nothing')
  }
  try {
    await session.commit()
  } catch (error) {
    throw new WarehouseFailure('write', `the commit was sent but not confirmed: ${messageOf(error)}`, 'unknown')
  }
  return { affected }
}
