import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDecimalValue,
  DuckDBInstance,
  type DuckDBValue,
  type DuckDBValueConverter,
  JsonDuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api'
import type { Json, JsonObject } from '#model/definition'
import { bareStatement, exactNumber, rowOf, uniqueNames } from './common.ts'
import { type Executed, type Query, type QueryResult, type Statement, WarehouseFailure, type Work } from './index.ts'
import { executeInTransaction } from './writing.ts'

// Runs DuckDB statements with access to one database file only, without network, without spilling to disk, and with a
// fixed amount of memory.

const settings = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  memory_limit: '256MB',
  threads: '1',
}

/**
 * Runs in this order, before any SQL of a tenant: without external access the directory cannot be changed, and with a
 * size of `0B` for the directory DuckDB was still observed to spill.
 */
const LOCKS = ["set temp_directory = ''", 'set enable_external_access = false', 'set lock_configuration = true']

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  for (const lock of LOCKS) await connection.run(lock)
  return connection
}

const RETRY_MS = 50

/** Opens the database when it is free: a process that writes locks the file exclusively, and other processes wait. */
async function whenFree(
  openIt: () => Promise<DuckDBInstance>,
  { timeoutMs, signal }: Pick<Query, 'timeoutMs' | 'signal'>,
): Promise<DuckDBInstance> {
  const until = performance.now() + timeoutMs
  for (;;) {
    try {
      return await openIt()
    } catch (error) {
      const isTaken = /could not set lock|conflicting lock/i.test((error as Error).message)
      if (!isTaken || signal.aborted || performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

async function open(file: string | null, limits: Pick<Query, 'timeoutMs' | 'signal'>): Promise<DuckDBInstance> {
  if (file === null) return DuckDBInstance.create(':memory:', settings)
  const openReadOnly = (): Promise<DuckDBInstance> =>
    whenFree(() => DuckDBInstance.create(file, { ...settings, access_mode: 'READ_ONLY' }), limits)
  try {
    return await openReadOnly()
  } catch (error) {
    if (!/does not exist/.test((error as Error).message)) throw error
  }
  const made = await whenFree(() => DuckDBInstance.create(file, settings), limits)
  made.closeSync()
  return openReadOnly()
}

/** Removes the excerpt of the statement that follows after an empty line. */
const inOneLine = (message: string): string =>
  message
    .split(/\n+LINE \d+:/)[0]!
    .replaceAll(/\s*\n\s*/g, ' ')
    .slice(0, 500)

const toFailure = (step: 'connect' | 'read', error: unknown): WarehouseFailure =>
  error instanceof WarehouseFailure ? error : new WarehouseFailure(step, inOneLine((error as Error).message))

const WRITES = new Set([
  StatementType.INSERT,
  StatementType.UPDATE,
  StatementType.DELETE,
  StatementType.MERGE_INTO,
  StatementType.CREATE,
  StatementType.ALTER,
  StatementType.DROP,
])

async function runOne(connection: DuckDBConnection, { text, params }: Statement): Promise<number | null> {
  const statements = await connection.extractStatements(bareStatement(text))
  if (statements.count !== 1) throw new Error('send exactly one statement')
  const statement = await statements.prepare(0)
  if (!WRITES.has(statement.statementType))
    throw new Error('only insert, update, delete, merge, create, alter and drop are allowed')
  if (params.length > 0) statement.bind(params as DuckDBValue[])
  const { rowsChanged } = await statement.run()
  return rowsChanged
}

/** Runs all statements in one transaction, while no other process has the database open. */
export async function executeDuckdb(file: string, work: Work): Promise<Executed> {
  const instance = await whenFree(() => DuckDBInstance.create(file, settings), work).catch((error: unknown) => {
    throw toFailure('connect', error)
  })
  try {
    const connection = await connect(instance)
    const outcome = await executeInTransaction(
      {
        begin: () => connection.run('begin transaction'),
        run: async (statement) => {
          try {
            return await runOne(connection, statement)
          } catch (error) {
            throw new Error(inOneLine((error as Error).message))
          }
        },
        commit: () => connection.run('commit'),
        rollback: () => connection.run('rollback'),
      },
      work,
    )
    connection.closeSync()
    return outcome
  } finally {
    instance.closeSync()
  }
}

async function start(connection: DuckDBConnection, { text, params = [] }: Query) {
  const statements = await connection.extractStatements(bareStatement(text))
  if (statements.count !== 1) throw new Error('send exactly one statement')
  const statement = await statements.prepare(0)
  if (statement.statementType !== StatementType.SELECT) throw new Error('only statements that read are allowed')
  const given = Array.isArray(params) ? params.length > 0 : Object.keys(params).length > 0
  if (given) statement.bind(params as DuckDBValue[])
  return statement.stream()
}

/** As the library converts to JSON, but with numbers where they are exact, and bytes as base64, also in lists. */
const jsonOf: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64')
  if (typeof value === 'bigint' || value instanceof DuckDBDecimalValue) return exactNumber(String(value))
  return (JsonDuckDBValueConverter as DuckDBValueConverter<Json>)(value, type, converter)
}

export async function runDuckdb(file: string | null, query: Query): Promise<QueryResult> {
  const instance = await open(file, query).catch((error: unknown) => {
    throw toFailure('connect', error)
  })
  try {
    const connection = await connect(instance)
    const result = await start(connection, query)
    const types = result.columnTypes().map(String)
    const names = uniqueNames(result.columnNames())
    async function* pages(): AsyncGenerator<JsonObject[]> {
      let left = query.limit
      try {
        for await (const page of result.yieldConvertedRows(jsonOf)) {
          yield page.slice(0, left).map((cells) => rowOf(names, cells))
          left -= page.length
          if (left <= 0) return
        }
      } catch (error) {
        throw toFailure('read', error)
      } finally {
        connection.closeSync()
        instance.closeSync()
      }
    }
    return { columns: names.map((name, index) => ({ name, type: types[index]!.toLowerCase() })), pages: pages() }
  } catch (error) {
    instance.closeSync()
    throw toFailure('read', error)
  }
}
