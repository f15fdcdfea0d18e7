import type { Readable } from 'node:stream'
import type { Connection, RowStatement } from 'snowflake-sdk'
import type { JsonObject } from '#model/definition'
import {
  asSubquery,
  bareStatement,
  exactNumber,
  messageOf,
  nameSchema,
  probeOver,
  quoteTable,
  readFromWith,
  rowOf,
  type TargetAccess,
  textOf,
  uniqueNames,
  type Web,
} from './common.ts'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'
import { executeOverProxy, queryOverProxy } from './proxied.ts'
import { type GuardedProxy, openProxy } from './proxy.ts'
import { type Dialect, executeInTransaction, tuples, writingIn } from './writing.ts'

const PAGE_ROWS = 500

const addressOf = (config: JsonObject): URL =>
  new URL(textOf(config.endpoint) || `https://${textOf(config.account)}.snowflakecomputing.com`)

function webOf(config: JsonObject): Web {
  const { protocol, hostname, port } = addressOf(config)
  const https = protocol === 'https:'
  return { host: hostname, port: Number(port || (https ? 443 : 80)), https }
}

type Snowflake = typeof import('snowflake-sdk')

function toFailure(error: unknown): WarehouseFailure {
  const { code } = error as { code?: unknown }
  // 390xxx: the session or the credential; 394xxx: the second factor.
  return new WarehouseFailure(/^39[04]\d{3}$/.test(String(code)) ? 'sign_in' : 'read', messageOf(error))
}

function connectionTo(
  snowflake: Snowflake,
  proxy: GuardedProxy,
  { config, secrets }: Target,
  timeoutMs: number,
): Connection {
  snowflake.configure({ logLevel: 'OFF', disableOCSPChecks: true })
  return snowflake.createConnection({
    account: textOf(config.account),
    accessUrl: addressOf(config).origin,
    username: textOf(config.user),
    ...(secrets.private_key
      ? { authenticator: 'SNOWFLAKE_JWT', privateKey: secrets.private_key }
      : { password: secrets.password ?? '' }),
    ...(config.warehouse !== undefined && { warehouse: textOf(config.warehouse) }),
    ...(config.database !== undefined && { database: textOf(config.database) }),
    ...(config.schema !== undefined && { schema: textOf(config.schema) }),
    ...(config.role !== undefined && { role: textOf(config.role) }),
    application: 'heddle',
    timeout: timeoutMs,
    sfRetryMaxLoginRetries: 0,
    retryTimeout: 0,
    proxyHost: proxy.host,
    proxyPort: proxy.port,
    proxyUser: proxy.user,
    proxyPassword: proxy.password,
    proxyProtocol: 'http:',
    clientSessionKeepAlive: false,
    representNullAsStringNull: false,
    disableSamlURLCheck: true,
  } as never)
}

const signIn = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) =>
    connection.connect((error) => (error ? reject(new WarehouseFailure(stepOf(error), messageOf(error))) : resolve())),
  )

const run = (
  connection: Connection,
  { text, params, timeoutMs }: Pick<Query, 'text' | 'params' | 'timeoutMs'>,
): Promise<RowStatement> =>
  new Promise((resolve, reject) =>
    connection.execute({
      sqlText: text,
      ...(Array.isArray(params) && params.length > 0 && { binds: params as never }),
      streamResult: true,
      rowMode: 'array',
      parameters: { STATEMENT_TIMEOUT_IN_SECONDS: Math.ceil(timeoutMs / 1000), MULTI_STATEMENT_COUNT: 1 },
      complete: (error, done) => (error ? reject(error) : resolve(done as RowStatement)),
    }),
  )

const endOf = (connection: Connection) => (): Promise<void> =>
  new Promise<void>((resolve) => connection.destroy(() => resolve()))

export const snowflakeDialect: Dialect = {
  transaction: true,
  maxParameters: 16_384,
  quote: { open: '"', close: '"' },
  parameter: () => '?',
  upsert: {
    source: (rows, columns) => {
      const named = columns.map((column, at) => `column${at + 1} as ${column}`).join(', ')
      return `(select ${named} from values ${tuples(rows)}) as source`
    },
  },
}

export function makeSnowflake(reach: TargetAccess): Warehouse {
  async function execute(target: Target, work: Work): Promise<Executed> {
    const { timeoutMs } = work
    const { default: snowflake } = await import('snowflake-sdk')
    const proxy = await openProxy(reach, webOf(target.config))
    const connection = connectionTo(snowflake, proxy, target, timeoutMs)
    const say = (text: string) => run(connection, { text, timeoutMs })
    return executeOverProxy(proxy, work, endOf(connection), async () => {
      await signIn(connection)
      return executeInTransaction(
        {
          begin: () => say('begin'),
          run: async ({ text, params }) => {
            const done = await run(connection, { text: bareStatement(text), params, timeoutMs })
            const changed = done.getNumUpdatedRows() ?? -1
            return changed < 0 ? null : changed
          },
          commit: () => say('commit'),
          rollback: () => say('rollback'),
        },
        work,
      )
    })
  }

  async function query(target: Target, wanted: Query): Promise<QueryResult> {
    const { text, limit, timeoutMs } = wanted
    const { default: snowflake } = await import('snowflake-sdk')
    // Large results come from Snowflake's storage, on other hosts: any public host is allowed, never a private host.
    const proxy = await openProxy(reach)
    const connection = connectionTo(snowflake, proxy, target, timeoutMs)
    const read = async (): Promise<QueryResult> => {
      await signIn(connection)
      const statement = await run(connection, { ...wanted, text: asSubquery(text, limit) })
      const found = statement.getColumns() ?? []
      const names = uniqueNames(found.map((column) => column.getName()))
      const columns = found.map((column, index) => ({ name: names[index]!, type: column.getType() }))
      const rows = statement.streamRows({ fetchAsString: ['Number'] }) as Readable
      return { columns, pages: readRows(rows, columns) }
    }
    return queryOverProxy(proxy, wanted, { end: endOf(connection), run: read, toFailure })
  }

  return {
    kind: 'snowflake',
    title: 'Snowflake',
    config_schema: {
      type: 'object',
      required: ['account', 'user'],
      additionalProperties: false,
      properties: {
        account: { type: 'string', title: 'Account', pattern: '^[A-Za-z0-9_.\\-]{1,255}$' },
        user: nameSchema('User'),
        warehouse: nameSchema('Warehouse'),
        database: nameSchema('Database'),
        schema: nameSchema('Schema'),
        role: nameSchema('Role'),
        endpoint: {
          type: 'string',
          title: 'Endpoint',
          description: 'Only for a private endpoint',
          pattern: '^https://[A-Za-z0-9.\\-\\[\\]:]+$',
          maxLength: 300,
        },
      },
    },
    secret_fields: [
      { name: 'password', title: 'Password', required: false },
      { name: 'private_key', title: 'Private key (PEM)', required: false, multiline: true },
    ],
    destination: (config) => addressOf(config).host.toLowerCase(),
    probe: probeOver(reach, webOf, query),
    query,
    readTable: (table) => `select * from ${quoteTable(table, '"')}`,
    readFrom: readFromWith('"', '?'),
    writing: writingIn(snowflakeDialect),
    execute,
  }
}

const stepOf = (error: unknown): 'connect' | 'sign_in' =>
  /network|ECONN|socket|proxy/i.test(messageOf(error)) ? 'connect' : 'sign_in'

/** The driver rounds large numbers, so they are fetched as text. */
const cellOf = (type: string, cell: unknown): unknown => {
  if (typeof cell !== 'string') return cell
  if (type === 'fixed') return exactNumber(cell)
  return type === 'real' ? Number(cell.replace('inf', 'Infinity')) : cell
}

async function* readRows(stream: Readable, columns: { name: string; type: string }[]): AsyncGenerator<JsonObject[]> {
  const names = columns.map(({ name }) => name)
  let page: JsonObject[] = []
  for await (const cells of stream as AsyncIterable<unknown[]>) {
    page.push(
      rowOf(
        names,
        columns.map(({ type }, at) => cellOf(type, cells[at])),
      ),
    )
    if (page.length < PAGE_ROWS) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
