import type { JsonObject } from '#model/definition'
import {
  asSubquery,
  bareStatement,
  destinationOf,
  exactNumber,
  hostSchema,
  messageOf,
  nameSchema,
  portSchema,
  probeOver,
  quoteTable,
  readFromWith,
  rowOf,
  type TargetAccess,
  textOf,
  type Web,
} from './common.ts'
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
import { executeOverProxy, queryOverProxy } from './proxied.ts'
import { type GuardedProxy, openProxy } from './proxy.ts'
import { type Dialect, executeOneByOne, tuples, writingIn } from './writing.ts'

const PAGE_ROWS = 1_000
/** The type of decimals in the Thrift interface. */
const DECIMAL = 15

const webOf = (config: JsonObject): Web => ({
  host: textOf(config.host),
  port: Number(config.port ?? 443),
  https: true,
  ...(typeof config.ca === 'string' && { ca: config.ca }),
})

function toFailure(error: unknown): WarehouseFailure {
  const refused = /\b(401|403)\b|unauthori[sz]ed|invalid.*token|forbidden/i.test(
    `${(error as { statusCode?: number }).statusCode ?? ''} ${messageOf(error)}`,
  )
  return new WarehouseFailure(refused ? 'sign_in' : 'read', messageOf(error))
}

const silent = { log: () => {} }

type DatabricksClient = InstanceType<typeof import('@databricks/sql').DBSQLClient>
type DatabricksSession = Awaited<ReturnType<DatabricksClient['openSession']>>

async function openSession(
  client: DatabricksClient,
  proxy: GuardedProxy,
  { config, secrets }: Target,
  timeoutMs: number,
): Promise<DatabricksSession> {
  const web = webOf(config)
  await client.connect({
    host: web.host,
    port: web.port,
    path: textOf(config.http_path),
    token: secrets.token ?? '',
    socketTimeout: timeoutMs,
    telemetryEnabled: false,
    // Without this, the client rounds large integers and decimals.
    preserveBigNumericPrecision: true,
    ...(web.ca && { customCaCert: web.ca }),
    proxy: {
      protocol: 'http',
      host: proxy.host,
      port: proxy.port,
      auth: { username: proxy.user, password: proxy.password },
    },
  })
  return client.openSession({
    ...(config.catalog !== undefined && { initialCatalog: textOf(config.catalog) }),
    ...(config.schema !== undefined && { initialSchema: textOf(config.schema) }),
  })
}

const parametersOf = (params: Query['params']) => ({
  ...(Array.isArray(params) && { ordinalParameters: params as never }),
  ...(params !== undefined && !Array.isArray(params) && { namedParameters: params as never }),
})

/** Closes the client, but does not wait long for a client that never connected or whose server is unreachable. */
const endOf = (client: DatabricksClient) => (): Promise<unknown> =>
  Promise.race([client.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 2_000).unref())])

/** A single statement is atomic, several are not: Delta tables have no transactions over several statements. */
export const databricksDialect: Dialect = {
  transaction: false,
  maxParameters: 1_000,
  quote: { open: '`', close: '`' },
  parameter: () => '?',
  upsert: {
    source: (rows, columns) => `(select * from values ${tuples(rows)} as given(${columns.join(', ')})) as source`,
  },
}

/**
 * Checks whether the server responded that it did not run the statement. After any other error, the statement may have
 * run.
 */
const isRefusal = (error: unknown): boolean =>
  ['StatusError', 'OperationStateError'].includes(
    (error as { constructor?: { name?: string } }).constructor?.name ?? '',
  )

export function makeDatabricks(reach: TargetAccess): Warehouse {
  async function makeClient(): Promise<DatabricksClient> {
    const { DBSQLClient } = await import('@databricks/sql')
    const client = new DBSQLClient({ logger: silent })
    client.on('error', () => {})
    return client
  }

  async function query(target: Target, wanted: Query): Promise<QueryResult> {
    const { text, params, limit, timeoutMs } = wanted
    const client = await makeClient()
    const proxy = await openProxy(reach, webOf(target.config))
    const run = async (): Promise<QueryResult> => {
      const session = await openSession(client, proxy, target, timeoutMs)
      const operation = await session.executeStatement(asSubquery(text, limit), {
        queryTimeout: Math.ceil(timeoutMs / 1000),
        maxRows: Math.min(PAGE_ROWS, limit),
        useCloudFetch: false,
        ...parametersOf(params),
      })
      const schema = await operation.getSchema()
      const columns = schema?.columns ?? []
      const names = columns.map(({ columnName }) => columnName)
      const decimal = columns.map(({ typeDesc }) => typeDesc.types[0]?.primitiveEntry?.type === DECIMAL)
      async function* pages(): AsyncGenerator<JsonObject[]> {
        do {
          const rows = (await operation.fetchChunk({ maxRows: Math.min(PAGE_ROWS, limit) })) as JsonObject[]
          const cellOf = (row: JsonObject, name: string, at: number): unknown =>
            decimal[at] && typeof row[name] === 'string' ? exactNumber(row[name]) : row[name]
          const cells = (row: JsonObject): unknown[] => names.map((name, at) => cellOf(row, name, at))
          if (rows.length > 0) yield rows.map((row) => rowOf(names, cells(row)))
        } while (await operation.hasMoreRows())
      }
      return { columns: names.map((name) => ({ name, type: '' })), pages: pages() }
    }
    return queryOverProxy(proxy, wanted, { end: endOf(client), run, toFailure })
  }

  async function execute(target: Target, work: Work): Promise<Executed> {
    const { timeoutMs } = work
    const client = await makeClient()
    const proxy = await openProxy(reach, webOf(target.config))
    return executeOverProxy(proxy, work, endOf(client), async () => {
      const session = await openSession(client, proxy, target, timeoutMs).catch((error: unknown) => {
        const { step, message } = toFailure(error)
        throw new WarehouseFailure(step === 'sign_in' ? step : 'connect', message)
      })
      const run = async ({ text, params }: Statement): Promise<number | null> => {
        const operation = await session.executeStatement(bareStatement(text), {
          queryTimeout: Math.ceil(timeoutMs / 1000),
          maxRows: 1,
          useCloudFetch: false,
          ...(params.length > 0 && parametersOf(params)),
        })
        const [row] = (await operation.fetchChunk({ maxRows: 1 })) as { num_affected_rows?: unknown }[]
        await operation.close()
        return row?.num_affected_rows === undefined ? null : Number(row.num_affected_rows)
      }
      return executeOneByOne(run, work, isRefusal)
    })
  }

  return {
    kind: 'databricks',
    title: 'Databricks SQL',
    config_schema: {
      type: 'object',
      required: ['host', 'http_path'],
      additionalProperties: false,
      properties: {
        host: hostSchema,
        port: portSchema(443),
        http_path: { type: 'string', title: 'HTTP path', pattern: '^/[A-Za-z0-9/_.\\-]{1,300}$' },
        catalog: nameSchema('Catalog'),
        schema: nameSchema('Schema'),
        ca: { type: 'string', title: 'Certificate authority (PEM)', maxLength: 65_536 },
      },
    },
    secret_fields: [{ name: 'token', title: 'Access token', required: true }],
    destination: (config) => destinationOf(webOf(config)),
    probe: probeOver(reach, webOf, query),
    query,
    readTable: (table) => `select * from ${quoteTable(table, '`')}`,
    readFrom: readFromWith('`', '?'),
    writing: writingIn(databricksDialect),
    execute,
  }
}
