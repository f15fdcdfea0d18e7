import type { Socket } from 'node:net'
import pg from 'pg'
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
  startTls,
  type TargetAccess,
  textOf,
  uniqueNames,
} from './common.ts'
import { type Encryption, encryptionOf } from './encryption.ts'
import { badCertificate, type HostPort as HostedPlace, hosted, hostPortOf, withoutTls } from './hosted.ts'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'
import { type Dialect, executeInTransaction, writingIn } from './writing.ts'

// PostgreSQL, and Redshift, which uses the same protocol.

type Place = HostedPlace & { database: string; user: string; ssl: Json | undefined; ca?: string }

const PAGE_ROWS = 500
const CONNECT_MS = 10_000

function placeIn(config: JsonObject, standardPort: number): Place {
  return {
    ...hostPortOf(config, standardPort),
    database: textOf(config.database),
    user: textOf(config.user),
    ssl: config.ssl,
    ...(typeof config.ca === 'string' && { ca: config.ca }),
  }
}

/** Signs in at the verified address, with the host name that the certificate must contain. */
async function signIn(
  place: Place,
  address: string,
  password: string,
  { tls, verify }: Pick<Encryption, 'tls' | 'verify'>,
): Promise<pg.Client> {
  const client = new pg.Client({
    host: address,
    port: place.port,
    database: place.database,
    user: place.user,
    password,
    ssl: tls ? { servername: place.host, rejectUnauthorized: verify, ...(place.ca && { ca: place.ca }) } : false,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'heddle',
  })
  client.on('error', () => {})
  let isConnected = false
  streamOf(client).once('connect', () => {
    isConnected = true
  })
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    if (isConnected && /timeout/i.test(messageOf(error)))
      throw new WarehouseFailure('sign_in', 'the server does not answer; is it PostgreSQL?')
    throw error
  }
}

/** Returns the driver's own socket, which its types do not expose. */
const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

async function open(reach: TargetAccess, place: Place, password: string): Promise<pg.Client> {
  const address = await resolveAddress(reach, place.host, place.port)
  const encryption = encryptionOf(place.ssl, address)
  try {
    return await signIn(place, address, password, encryption)
  } catch (error) {
    if (error instanceof WarehouseFailure) throw error
    if (encryption.tls && /does not support SSL/.test(messageOf(error))) {
      if (!encryption.mayBeClear) throw withoutTls()
      return await inStep('sign_in', () => signIn(place, address, password, { tls: false, verify: false }))
    }
    const { code } = error as { code?: string }
    const step = /ECONN|EHOST|ENET|timeout/i.test(`${code} ${messageOf(error)}`)
      ? 'connect'
      : /SSL|certificate|CERT|TLS|self.signed/i.test(`${code} ${messageOf(error)}`)
        ? 'tls'
        : 'sign_in'
    throw step === 'tls' ? badCertificate(error) : new WarehouseFailure(step, messageOf(error))
  }
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Resolves, connects and encrypts without the driver, so that a failure can name the step. No secret is sent. */
async function probeTransport(reach: TargetAccess, place: Place): Promise<void> {
  const address = await resolveAddress(reach, place.host, place.port)
  const { tls, verify, mayBeClear } = encryptionOf(place.ssl, address)
  const socket = await openSocket(address, place.port)
  try {
    if (!tls) return
    const answer = await inStep(
      'tls',
      () =>
        new Promise<string>((resolve, reject) => {
          socket.setTimeout(CONNECT_MS, () => reject(new Error('the server does not answer; is it PostgreSQL?')))
          socket.once('error', reject)
          socket.once('close', () => reject(new Error('the server closed the connection; is it PostgreSQL?')))
          socket.once('data', (data) => resolve(data.toString('latin1', 0, 1)))
          socket.write(SSL_REQUEST)
        }),
    )
    socket.removeAllListeners()
    if (answer === 'S')
      await startTls(socket, { servername: place.host, verify, ...(place.ca && { ca: place.ca }) }).catch((error) => {
        throw verify ? badCertificate(error) : error
      })
    else if (!mayBeClear) throw withoutTls()
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

const { builtins } = pg.types
const exact = new Set<number>([builtins.INT8, builtins.NUMERIC])
const plain = new Set<number>([
  builtins.INT2,
  builtins.INT4,
  builtins.OID,
  builtins.FLOAT4,
  builtins.FLOAT8,
  builtins.BOOL,
])
const parsed = new Set<number>([builtins.JSON, builtins.JSONB])

/** Dates, times and all other types remain as the server writes them. */
const types = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (exact.has(oid)) return exactNumber
    if (parsed.has(oid)) return (text) => JSON.parse(text) as Json
    if (plain.has(oid)) return pg.types.getTypeParser(oid) as (text: string) => unknown
    if (oid === builtins.BYTEA) return (text) => Buffer.from(text.slice(2), 'hex')
    return (text) => text
  },
}

async function* fetchPages(
  client: pg.Client,
  names: string[],
  first: unknown[][],
  limit: number,
): AsyncGenerator<JsonObject[]> {
  let rows = first
  let left = limit
  while (rows.length > 0) {
    yield rows.map((cells) => rowOf(names, cells))
    left -= rows.length
    if (rows.length < PAGE_ROWS || left <= 0) return
    rows = (await fetchRows(client, Math.min(PAGE_ROWS, left))).rows
  }
}

const fetchRows = (client: pg.Client, count: number): Promise<pg.QueryArrayResult<unknown[]>> =>
  client.query({ text: `fetch forward ${count} from heddle_rows`, rowMode: 'array', types: types as never })

/**
 * Runs a query in a read-only transaction with a cursor: nothing can be changed, and only the requested rows are
 * fetched.
 */
async function runQuery(client: pg.Client, { text, params, limit, timeoutMs, signal }: Query): Promise<QueryResult> {
  // Closing the socket is the only way to stop a statement without a second connection.
  const stop = (): void => {
    client.end().catch(() => {})
    streamOf(client).destroy()
  }
  signal.addEventListener('abort', stop, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', stop)
    await client.end().catch(() => {})
  }
  const toFailure = (error: unknown): WarehouseFailure =>
    error instanceof WarehouseFailure
      ? error
      : new WarehouseFailure('read', signal.aborted ? 'it was cancelled' : messageOf(error))
  try {
    signal.throwIfAborted()
    await client.query('begin transaction read only')
    await client.query(`set statement_timeout to ${Math.ceil(timeoutMs)}`)
    // With the extended protocol, the server itself refuses a second statement in the text.
    await client.query({
      text: `declare heddle_rows no scroll cursor for ${bareStatement(text)}`,
      values: Array.isArray(params) ? params.map(toParameter) : [],
      queryMode: 'extended',
    } as pg.QueryConfig)
    const first = await fetchRows(client, Math.min(PAGE_ROWS, limit))
    const names = uniqueNames(first.fields.map(({ name }) => name))
    const columns = first.fields.map(({ dataTypeID }, index) => ({ name: names[index]!, type: typeName(dataTypeID) }))
    async function* pages(): AsyncGenerator<JsonObject[]> {
      try {
        yield* limited(fetchPages(client, names, first.rows, limit), limit)
      } catch (error) {
        throw toFailure(error)
      } finally {
        await close()
      }
    }
    return { columns, pages: pages() }
  } catch (error) {
    await close()
    throw toFailure(error)
  }
}

async function runWork(client: pg.Client, work: Work): Promise<Executed> {
  const stop = (): void => void streamOf(client).destroy()
  work.signal.addEventListener('abort', stop, { once: true })
  try {
    return await executeInTransaction(
      {
        begin: async () => {
          await client.query('begin')
          await client.query(`set local statement_timeout to ${Math.ceil(work.timeoutMs)}`)
        },
        async run({ text, params }) {
          const values = params.map(toParameter)
          const config = { text: bareStatement(text), values, queryMode: 'extended' } as pg.QueryConfig
          return (await client.query(config)).rowCount
        },
        commit: () => client.query('commit'),
        rollback: () => client.query('rollback'),
      },
      work,
    )
  } finally {
    work.signal.removeEventListener('abort', stop)
    await client.end().catch(() => {})
  }
}

/** The protocol counts parameters with 16 bits. */
export const postgresDialect: Dialect = {
  transaction: true,
  maxParameters: 65_535,
  quote: { open: '"', close: '"' },
  parameter: (n) => `$${n}`,
  upsert: 'on conflict',
}
export const redshiftDialect: Dialect = { ...postgresDialect, maxParameters: 32_767, upsert: 'delete and insert' }

const toParameter = (value: Json): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value

const typeNames = new Map(Object.entries(builtins).map(([name, oid]) => [oid as number, name.toLowerCase()]))
const typeName = (oid: number): string => typeNames.get(oid) ?? 'text'

type Flavour = Pick<Warehouse, 'kind' | 'title'> & { port: number; dialect: Dialect }

function makeFlavour(reach: TargetAccess, { kind, title, port, dialect }: Flavour): Warehouse {
  const place = (target: Target): Place => placeIn(target.config, port)
  const password = (target: Target): string => target.secrets.password ?? ''
  return {
    kind,
    title,
    ...hosted(port),
    async probe(target) {
      await probeTransport(reach, place(target))
      const client = await open(reach, place(target), password(target))
      try {
        await inStep('read', () => client.query('select 1'))
      } finally {
        await client.end().catch(() => {})
      }
    },
    query: async (target, query) => runQuery(await open(reach, place(target), password(target)), query),
    readTable: (table) => `select * from ${quoteTable(table, '"')}`,
    readFrom: readFromWith('"', '$1'),
    writing: writingIn(dialect),
    execute: async (target, work) => runWork(await open(reach, place(target), password(target)), work),
  }
}

export const makePostgres = (reach: TargetAccess): Warehouse =>
  makeFlavour(reach, { kind: 'postgres', title: 'PostgreSQL', port: 5432, dialect: postgresDialect })

export const makeRedshift = (reach: TargetAccess): Warehouse =>
  makeFlavour(reach, { kind: 'redshift', title: 'Amazon Redshift', port: 5439, dialect: redshiftDialect })
