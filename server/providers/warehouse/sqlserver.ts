import { isIP, type Socket } from 'node:net'
import type { Connection, ConnectionConfiguration } from 'tedious'
import type { Json, JsonObject } from '#model/definition'
import {
  bareStatement,
  exactNumber,
  hostSchema,
  inStep,
  messageOf,
  nameSchema,
  openSocket,
  portSchema,
  type Reach,
  resolveAddress,
  rowOf,
  textOf,
  uniqueNames,
} from './common.ts'
import { encryptionOf, sslSchema } from './encryption.ts'
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
import { isClosed } from './sqlserver-text.ts'
import { type Dialect, executeInTransaction, writingIn } from './writing.ts'

// Microsoft SQL Server, and Azure SQL, which speaks the same protocol.

const PAGE_ROWS = 500
const PORT = 1433
const CONNECT_MS = 10_000

const hostOf = (config: JsonObject): string => textOf(config.host).replace(/^\[|\]$/g, '')
const portOf = (config: JsonObject): number => Number(config.port ?? PORT)

type Tedious = typeof import('tedious')

const load = async (): Promise<Tedious> => {
  const module = (await import('tedious')) as unknown as { default?: Tedious } & Tedious
  return module.default ?? module
}

function configurationOf(
  { config, secrets }: Target,
  socket: Socket,
  { tls, verify }: { tls: boolean; verify: boolean },
  timeoutMs: number,
): ConnectionConfiguration {
  const host = hostOf(config)
  return {
    server: host,
    authentication: { type: 'default', options: { userName: textOf(config.user), password: secrets.password ?? '' } },
    options: {
      // The address was checked; the name may be answered differently next time.
      connector: async () => (tls ? refuseClear(socket) : socket),
      database: textOf(config.database),
      encrypt: tls,
      trustServerCertificate: !verify,
      ...(isIP(host) === 0 && { serverName: host }),
      ...(typeof config.ca === 'string' && { cryptoCredentialsDetails: { ca: config.ca } }),
      connectTimeout: CONNECT_MS,
      requestTimeout: Math.ceil(timeoutMs),
      cancelTimeout: 2_000,
      maxRetriesOnTransientErrors: 0,
      appName: 'heddle',
      rowCollectionOnRequestCompletion: false,
      useColumnNames: false,
      useUTC: true,
      enableArithAbort: true,
    },
  }
}

const PRELOGIN_ENCRYPTION = 1
const ENCRYPTED: ReadonlySet<number | undefined> = new Set([1, 3])

/** What the server says about encryption in its first packet; undefined while that is not all there. */
function encryptionIn(received: Buffer): number | null | undefined {
  if (received.length < 8 || received.length < received.readUInt16BE(2)) return undefined
  const options = received.subarray(8, received.readUInt16BE(2))
  for (let at = 0; at + 5 <= options.length && options[at] !== 0xff; at += 5)
    if (options[at] === PRELOGIN_ENCRYPTION) return options[options.readUInt16BE(at + 1)] ?? null
  return null
}

/** The driver signs in without TLS, whatever it was told, if the server says that it has none. This ends the socket before that. */
function refuseClear(socket: Socket): Socket {
  let received = Buffer.alloc(0)
  const look = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk])
    const said = encryptionIn(received)
    if (said === undefined) return
    socket.off('data', look)
    if (said === null || !ENCRYPTED.has(said)) socket.destroy(new Error(WITHOUT_TLS))
  }
  socket.on('data', look)
  return socket
}

const WITHOUT_TLS = 'the server does not support encryption'

async function signIn(target: Target, configuration: ConnectionConfiguration): Promise<Connection> {
  const { Connection: Client } = await load()
  const connection = new Client(configuration)
  connection.on('error', () => {})
  try {
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
    return connection
  } catch (error) {
    connection.close()
    const text = `${(error as { code?: string }).code ?? ''} ${messageOf(error)}`
    if (/SSL|certificate|CERT|TLS|self.signed|altname|encrypt/i.test(text))
      throw new WarehouseFailure(
        'tls',
        target.config.ssl === 'off' || target.config.ssl === false
          ? messageOf(error)
          : `${messageOf(error)}; give the authority of its certificate as "ca", or leave it unchecked with "ssl": "no-verify"`,
      )
    if (/ETIMEOUT|ESOCKET|ECONN|closed/i.test(text))
      throw new WarehouseFailure('sign_in', 'the server does not answer; is it SQL Server?')
    throw new WarehouseFailure('sign_in', messageOf(error))
  }
}

async function open(reach: Reach, target: Target, timeoutMs: number): Promise<Connection> {
  const [host, port] = [hostOf(target.config), portOf(target.config)]
  const address = await resolveAddress(reach, host, port)
  const { tls, verify, mayBeClear } = encryptionOf(target.config.ssl, address)
  const dial = async (how: { tls: boolean; verify: boolean }): Promise<Connection> =>
    signIn(target, configurationOf(target, await openSocket(address, port), how, timeoutMs))
  try {
    return await dial({ tls, verify })
  } catch (error) {
    const without = tls && error instanceof WarehouseFailure && error.message.includes(WITHOUT_TLS)
    if (!without) throw error
    if (!mayBeClear)
      throw new WarehouseFailure(
        'tls',
        'the server does not offer TLS, so nothing was sent to it; "ssl": "off" would send everything unencrypted',
      )
    return dial({ tls: false, verify: false })
  }
}

type Cell = { value: unknown; metadata: { colName: string; type: { name: string } } }

/** Text and numbers alone: everything that JSON has, and the server converts the rest. */
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

/** One request, sent as sp_executesql with its parameters; how many rows it changed. */
async function ask(connection: Connection, { text, params, onColumns, onRow }: Asked): Promise<number | null> {
  const tedious = await load()
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

/** SQL Server has no read-only session: the text is a subquery, which it cannot leave. */
function asReading(text: string, limit: number): string {
  const bare = bareStatement(text)
  if (!isClosed(bare)) throw new WarehouseFailure('read', 'only a single statement that reads is allowed')
  // With a line break, a comment at the end of the text does not swallow the bracket.
  return `select top (${limit}) * from (\n${bare}\n) as heddle_rows`
}

async function runQuery(connection: Connection, { text, params, limit, signal }: Query): Promise<QueryResult> {
  const stop = (): void => connection.close()
  signal.addEventListener('abort', stop, { once: true })
  const close = (): void => {
    signal.removeEventListener('abort', stop)
    connection.close()
  }
  const told = (error: unknown): WarehouseFailure =>
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
        // Read on when these were taken: the driver stops reading from its socket.
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
        throw told(error)
      } finally {
        rows = []
        close()
      }
    }
    return { columns: names.map((name, at) => ({ name, type: types[at] ?? '' })), pages: pages() }
  } catch (error) {
    close()
    throw told(error)
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

/** The server takes 2,100 parameters, some of which the call itself needs. */
export const sqlserverDialect: Dialect = {
  transaction: true,
  maxParameters: 2_000,
  quote: { open: '[', close: ']' },
  parameter: (n) => `@p${n}`,
  upsert: 'merge',
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

export const makeSqlserver = (reach: Reach): Warehouse => ({
  kind: 'sqlserver',
  title: 'Microsoft SQL Server',
  config_schema: {
    type: 'object',
    required: ['host', 'database', 'user'],
    additionalProperties: false,
    properties: {
      host: hostSchema,
      port: portSchema(PORT),
      database: nameSchema('Database'),
      user: nameSchema('User'),
      ssl: sslSchema,
      ca: { type: 'string', title: 'Certificate authority (PEM)', maxLength: 65_536 },
    },
  },
  secret_fields: [{ name: 'password', title: 'Password', required: false }],
  destination: (config) => `${hostOf(config).toLowerCase()}:${portOf(config)}`,
  async probe(target, { timeoutMs }) {
    const connection = await open(reach, target, timeoutMs)
    try {
      await inStep('read', () => ask(connection, { text: 'select 1 as one', params: [] }))
    } finally {
      connection.close()
    }
  },
  query: async (target, query) => runQuery(await open(reach, target, query.timeoutMs), query),
  readTable: (table) => `select * from ${quoted(table, 3)}`,
  readFrom: (text, column, isFirst) => {
    const at = quoted(column, 1)
    if (!isClosed(bareStatement(text)))
      throw new WarehouseFailure('read', 'only a single statement that reads is allowed')
    const rows = `select * from (\n${bareStatement(text)}\n) as heddle_source${isFirst ? '' : ` where ${at} >= @p1`}`
    return `${rows} order by ${at} offset 0 rows`
  },
  writing: writingIn(sqlserverDialect),
  execute: async (target, work) => runWork(await open(reach, target, work.timeoutMs), work),
})
