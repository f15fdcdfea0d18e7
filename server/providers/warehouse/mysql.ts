import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Connection } from 'mysql2'
import type { Json, JsonObject } from '#model/definition'
import {
  bareStatement,
  exactNumber,
  inStep,
  limited,
  messageOf,
  openSocket,
  quoteTable,
  readFromWith,
  resolveAddress,
  rowOf,
  type TargetAccess,
  textOf,
  uniqueNames,
} from './common.ts'
import { encryptionOf } from './encryption.ts'
import { badCertificate, hosted, hostPortOf, isAboutTls, withoutTls } from './hosted.ts'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Statement,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'
import { type Dialect, executeInTransaction, writingIn } from './writing.ts'

// MySQL and MariaDB.

const PAGE_ROWS = 500
const PORT = 3306
const CONNECT_MS = 10_000

/**
 * Integers and decimals arrive as text, and become numbers if a double represents them exactly: DECIMAL, LONGLONG,
 * NEWDECIMAL.
 */
const EXACT: ReadonlySet<number | undefined> = new Set([0, 8, 246])

/**
 * Signs in over this socket, which is connected to the verified address. The certificate must contain the host name.
 */
async function signIn(
  socket: Socket,
  { config, secrets }: Target,
  { tls, verify }: { tls: boolean; verify: boolean },
): Promise<Connection> {
  const { createConnection } = await import('mysql2')
  const connection = createConnection({
    stream: socket,
    host: hostPortOf(config, PORT).host,
    user: textOf(config.user),
    password: secrets.password ?? '',
    database: textOf(config.database),
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    multipleStatements: false,
    connectTimeout: CONNECT_MS,
    rowsAsArray: true,
    connectAttributes: { program_name: 'heddle' },
    ...(tls && {
      ssl: {
        rejectUnauthorized: verify,
        verifyIdentity: verify,
        ...(typeof config.ca === 'string' && { ca: config.ca }),
      },
    }),
  })
  connection.on('error', () => {})
  try {
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

async function open(reach: TargetAccess, target: Target): Promise<Connection> {
  const { host, port } = hostPortOf(target.config, PORT)
  const address = await resolveAddress(reach, host, port)
  const { tls, verify, mayBeClear } = encryptionOf(target.config.ssl, address)
  const dial = (): Promise<Socket> => openSocket(address, port)
  try {
    return await signIn(await dial(), target, { tls, verify })
  } catch (error) {
    if (error instanceof WarehouseFailure) throw error
    const { code = '' } = error as { code?: string }
    if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
      if (!mayBeClear) throw withoutTls()
      return inStep('sign_in', async () => signIn(await dial(), target, { tls: false, verify: false }))
    }
    const text = `${code} ${messageOf(error)}`
    if (isAboutTls(text)) throw badCertificate(error)
    if (/timeout|ECONN|PROTOCOL_CONNECTION_LOST|closed/i.test(text))
      throw new WarehouseFailure('sign_in', 'the server does not answer; is it MySQL?')
    throw new WarehouseFailure('sign_in', messageOf(error))
  }
}

const run = (connection: Connection, text: string, params: Json[] = []): Promise<number | null> =>
  new Promise((resolve, reject) =>
    connection.execute(text, params.map(toParameter) as never, (error, result) =>
      error ? reject(error) : resolve((result as { affectedRows?: number }).affectedRows ?? null),
    ),
  )

/** Runs a statement and ignores errors, because not every server and version supports it. */
const tryRun = (connection: Connection, text: string): Promise<void> =>
  new Promise((resolve) => connection.query(text, () => resolve()))

const toParameter = (value: Json): Json => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)

const listOf = (params: Query['params']): Json[] => {
  if (params === undefined) return []
  if (Array.isArray(params)) return params
  throw new WarehouseFailure('read', 'MySQL takes a list of parameters, for each ? in order')
}

async function limitTime(connection: Connection, timeoutMs: number): Promise<void> {
  const ms = Math.ceil(timeoutMs)
  await tryRun(connection, `set session max_statement_time = ${ms / 1000}`)
  await tryRun(connection, `set session max_execution_time = ${ms}`)
}

type Field = { name: string; columnType?: number }

/**
 * Runs a query in a read-only transaction. A prepared statement is always a single statement, and rows are fetched on
 * demand.
 */
async function runQuery(connection: Connection, query: Query): Promise<QueryResult> {
  const { text, params, limit, timeoutMs, signal } = query
  const stop = (): void => connection.destroy()
  signal.addEventListener('abort', stop, { once: true })
  const close = (): void => {
    signal.removeEventListener('abort', stop)
    connection.destroy()
  }
  const toFailure = (error: unknown): WarehouseFailure =>
    error instanceof WarehouseFailure
      ? error
      : new WarehouseFailure('read', signal.aborted ? 'it was cancelled' : messageOf(error))
  try {
    signal.throwIfAborted()
    await limitTime(connection, timeoutMs)
    await run(connection, `set session sql_select_limit = ${limit}`)
    await run(connection, 'start transaction read only')
    const started = connection.execute(bareStatement(text), listOf(params).map(toParameter) as never)
    const fields = Promise.withResolvers<Field[]>()
    started.once('fields', (found: Field[]) => fields.resolve(found))
    started.once('error', fields.reject)
    started.once('end', () => fields.resolve([]))
    const stream = started.stream({ highWaterMark: PAGE_ROWS })
    stream.on('error', () => {})
    const found = await fields.promise
    const { default: mysql } = await import('mysql2')
    const names = uniqueNames((found ?? []).map(({ name }) => name))
    const typeOf = (type: number | undefined): string =>
      type === undefined ? '' : String((mysql.Types as unknown as Record<number, string>)[type] ?? '').toLowerCase()
    const exact = names.map((_name, at) => EXACT.has(found[at]!.columnType))
    const columns = names.map((name, at) => ({ name, type: typeOf(found[at]!.columnType) }))
    async function* pages(): AsyncGenerator<JsonObject[]> {
      try {
        yield* limited(readRows(stream, names, exact), limit)
      } catch (error) {
        throw toFailure(error)
      } finally {
        close()
      }
    }
    return { columns, pages: pages() }
  } catch (error) {
    close()
    throw toFailure(error)
  }
}

async function* readRows(stream: Readable, names: string[], exact: boolean[]): AsyncGenerator<JsonObject[]> {
  let page: JsonObject[] = []
  const valueAt = (cell: unknown, at: number): unknown =>
    exact[at] && typeof cell === 'string' ? exactNumber(cell) : cell
  for await (const cells of stream as AsyncIterable<unknown[]>) {
    page.push(rowOf(names, cells.map(valueAt)))
    if (page.length < PAGE_ROWS) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

async function runWork(connection: Connection, work: Work): Promise<Executed> {
  const stop = (): void => connection.destroy()
  work.signal.addEventListener('abort', stop, { once: true })
  try {
    await limitTime(connection, work.timeoutMs)
    return await executeInTransaction(
      {
        begin: () => run(connection, 'start transaction'),
        run: ({ text, params }: Statement) => run(connection, bareStatement(text), params),
        commit: () => run(connection, 'commit'),
        rollback: () => run(connection, 'rollback'),
      },
      work,
    )
  } finally {
    work.signal.removeEventListener('abort', stop)
    connection.destroy()
  }
}

export const mysqlDialect: Dialect = {
  transaction: true,
  maxParameters: 65_535,
  quote: { open: '`', close: '`' },
  parameter: () => '?',
  upsert: 'on duplicate key',
}

export const makeMysql = (reach: TargetAccess): Warehouse => ({
  kind: 'mysql',
  title: 'MySQL or MariaDB',
  ...hosted(PORT),
  async probe(target) {
    const connection = await open(reach, target)
    try {
      await inStep('read', () => run(connection, 'select 1'))
    } finally {
      connection.destroy()
    }
  },
  query: async (target, query) => runQuery(await open(reach, target), query),
  readTable: (table) => `select * from ${quoteTable(table, '`', 2)}`,
  readFrom: readFromWith('`', '?'),
  writing: writingIn(mysqlDialect),
  execute: async (target, work) => runWork(await open(reach, target), work),
})
