import type { Connection } from 'tedious'
import type { Json, JsonObject } from '#model/definition'
import { bareStatement, exactNumber, inStep, messageOf, rowOf, type TargetAccess, uniqueNames } from './common.ts'
import { hosted } from './hosted.ts'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Statement,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'
import { loadTedious, openSqlserver, SQLSERVER_PORT, type Tedious } from './sqlserver-connection.ts'
import { isSingleStatement } from './sqlserver-text.ts'
import { type Dialect, executeInTransaction, tuples, writingIn } from './writing.ts'

// Microsoft SQL Server, and Azure SQL, which uses the same protocol.

const PAGE_ROWS = 500

type Cell = { value: unknown; metadata: { colName: string; type: { name: string } } }

/** Maps JSON values to types. Only text and numbers are needed, because the server converts the rest. */
function typeOf({ TYPES }: Tedious, value: Json): [type: (typeof TYPES)[keyof typeof TYPES], value: unknown] {
  if (typeof value === 'boolean') return [TYPES.Bit, value]
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return [TYPES.Float, value]
    return Math.abs(value) < 2 ** 31 ? [TYPES.Int, value] : [TYPES.BigInt, String(value)]
  }
  return [TYPES.NVarChar, value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)]
}

type Asked = {
  text: string
  params: Json[]
  onColumns?(names: string[], types: string[]): void
  onRow?(cells: unknown[]): void
}

/** Sends one request as sp_executesql with its parameters. Returns the number of changed rows. */
async function ask(connection: Connection, { text, params, onColumns, onRow }: Asked): Promise<number | null> {
  const tedious = await loadTedious()
  return new Promise((resolve, reject) => {
    const request = new tedious.Request(text, (error, count) => (error ? reject(error) : resolve(count ?? null)))
    params.forEach((param, at) => {
      const [type, value] = typeOf(tedious, param)
      request.addParameter(`p${at + 1}`, type, value)
    })
    if (onColumns)
      request.on('columnMetadata', (columns) => {
        const list = columns as unknown as Cell['metadata'][]
        onColumns(
          list.map(({ colName }) => colName),
          list.map(({ type }) => type.name.toLowerCase()),
        )
      })
    if (onRow) request.on('row', (cells: unknown) => onRow((cells as Cell[]).map(cellOf)))
    connection.execSql(request)
  })
}

const EXACT = new Set(['bigint', 'decimal', 'decimaln', 'numeric', 'numericn', 'money', 'moneyn', 'smallmoney'])

function cellOf({ value, metadata }: Cell): unknown {
  if (value instanceof Date && /^(date|daten)$/i.test(metadata.type.name)) return value.toISOString().slice(0, 10)
  return typeof value === 'string' && EXACT.has(metadata.type.name.toLowerCase()) ? exactNumber(value) : value
}

const listOf = (params: Query['params']): Json[] => {
  if (params === undefined) return []
  if (Array.isArray(params)) return params
  throw new WarehouseFailure('read', 'SQL Server takes a list of parameters, for @p1, @p2 … in order')
}

/** SQL Server has no read-only session, so the text becomes a subquery that it cannot escape. */
function asReading(text: string, limit: number): string {
  const bare = bareStatement(text)
  if (!isSingleStatement(bare)) throw new WarehouseFailure('read', 'only a single statement that reads is allowed')
  // With a line break, a comment at the end of the text cannot swallow the parenthesis.
  return `select top (${limit}) * from (\n${bare}\n) as heddle_rows`
}

async function runQuery(connection: Connection, { text, params, limit, signal }: Query): Promise<QueryResult> {
  const stop = (): void => connection.close()
  signal.addEventListener('abort', stop, { once: true })
  const close = (): void => {
    signal.removeEventListener('abort', stop)
    connection.close()
  }
  const toFailure = (error: unknown): WarehouseFailure =>
    error instanceof WarehouseFailure
      ? error
      : new WarehouseFailure('read', signal.aborted ? 'it was cancelled' : messageOf(error))
  let rows: unknown[][] = []
  let wake: () => void = () => {}
  let over: { error?: unknown } | undefined
  const columns = Promise.withResolvers<{ names: string[]; types: string[] }>()
  columns.promise.catch(() => {})
  try {
    signal.throwIfAborted()
    const asked: Asked = {
      text: asReading(text, limit),
      params: listOf(params),
      onColumns: (names, types) => columns.resolve({ names: uniqueNames(names), types }),
      onRow(cells) {
        rows.push(cells)
        // The driver stops reading from its socket until these rows are consumed.
        if (rows.length >= 2 * PAGE_ROWS) pauseReading(connection)
        if (rows.length >= PAGE_ROWS) wake()
      },
    }
    ask(connection, asked).then(
      () => {
        over = {}
        columns.resolve({ names: [], types: [] })
        wake()
      },
      (error: unknown) => {
        over = { error }
        columns.reject(error)
        wake()
      },
    )
    const { names, types } = await columns.promise
    async function* pages(): AsyncGenerator<JsonObject[]> {
      try {
        for (;;) {
          if (rows.length === 0 && over !== undefined) {
            if (over.error !== undefined) throw over.error
            return
          }
          if (rows.length < PAGE_ROWS && over === undefined) {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
            continue
          }
          const page = rows.splice(0, PAGE_ROWS)
          if (rows.length < PAGE_ROWS) resumeReading(connection)
          yield page.map((cells) => rowOf(names, cells))
        }
      } catch (error) {
        throw toFailure(error)
      } finally {
        rows = []
        close()
      }
    }
    return { columns: names.map((name, at) => ({ name, type: types[at] ?? '' })), pages: pages() }
  } catch (error) {
    close()
    throw toFailure(error)
  }
}

type Request = { pause(): void; resume(): void }
const requestOf = (connection: Connection): Request | undefined =>
  (connection as unknown as { request?: Request }).request
const pauseReading = (connection: Connection): void => requestOf(connection)?.pause()
const resumeReading = (connection: Connection): void => requestOf(connection)?.resume()

async function runWork(connection: Connection, work: Work): Promise<Executed> {
  const stop = (): void => connection.close()
  work.signal.addEventListener('abort', stop, { once: true })
  const say = (text: string) => (): Promise<number | null> => ask(connection, { text, params: [] })
  try {
    return await executeInTransaction(
      {
        begin: say('set xact_abort on; begin transaction'),
        run: ({ text, params }: Statement) => ask(connection, { text, params }),
        commit: say('commit transaction'),
        rollback: say('if @@trancount > 0 rollback transaction'),
      },
      work,
    )
  } finally {
    work.signal.removeEventListener('abort', stop)
    connection.close()
  }
}

/** The server accepts 2,100 parameters, some of which the call itself needs. */
export const sqlserverDialect: Dialect = {
  transaction: true,
  maxParameters: 2_000,
  quote: { open: '[', close: ']' },
  parameter: (n) => `@p${n}`,
  upsert: {
    hint: ' with (holdlock)',
    source: (rows, columns) => `(values ${tuples(rows)}) as source (${columns.join(', ')})`,
    end: ';',
  },
}

const part = /^[\p{L}_][\p{L}\p{N}_$ -]{0,127}$/u

function quoted(name: string, maxParts: number): string {
  const parts = name.split('.')
  if (parts.length > maxParts || !parts.every((one) => part.test(one)))
    throw new WarehouseFailure(
      'read',
      `"${name.slice(0, 100)}" is not the name of a ${maxParts === 1 ? 'column' : 'table'}`,
    )
  return parts.map((one) => `[${one}]`).join('.')
}

export const makeSqlserver = (reach: TargetAccess): Warehouse => ({
  kind: 'sqlserver',
  title: 'Microsoft SQL Server',
  ...hosted(SQLSERVER_PORT),
  async probe(target, { timeoutMs }) {
    const connection = await openSqlserver(reach, target, timeoutMs)
    try {
      await inStep('read', () => ask(connection, { text: 'select 1 as one', params: [] }))
    } finally {
      connection.close()
    }
  },
  query: async (target, query) => runQuery(await openSqlserver(reach, target, query.timeoutMs), query),
  readTable: (table) => `select * from ${quoted(table, 3)}`,
  readFrom: (text, column, isFirst) => {
    const at = quoted(column, 1)
    if (!isSingleStatement(bareStatement(text)))
      throw new WarehouseFailure('read', 'only a single statement that reads is allowed')
    const rows = `select * from (\n${bareStatement(text)}\n) as heddle_source${isFirst ? '' : ` where ${at} >= @p1`}`
    return `${rows} order by ${at} offset 0 rows`
  },
  writing: writingIn(sqlserverDialect),
  execute: async (target, work) => runWork(await openSqlserver(reach, target, work.timeoutMs), work),
})
