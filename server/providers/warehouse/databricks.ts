import type { JsonObject } from '#model/definition'
import {
  asSubquery,
  destinationOf,
  hostSchema,
  limited,
  messageOf,
  nameSchema,
  portSchema,
  probeOver,
  quoteTable,
  type Reach,
  rowOf,
  textOf,
  type Web,
} from './common.ts'
import { type Query, type QueryResult, type Target, type Warehouse, WarehouseFailure } from './index.ts'
import { closeWhenOver, openProxy } from './proxy.ts'

const PAGE_ROWS = 1_000

const webOf = (config: JsonObject): Web => ({
  host: textOf(config.host),
  port: Number(config.port ?? 443),
  https: true,
  ...(typeof config.ca === 'string' && { ca: config.ca }),
})

function told(error: unknown): WarehouseFailure {
  if (error instanceof WarehouseFailure) return error
  const refused = /\b(401|403)\b|unauthori[sz]ed|invalid.*token|forbidden/i.test(
    `${(error as { statusCode?: number }).statusCode ?? ''} ${messageOf(error)}`,
  )
  return new WarehouseFailure(refused ? 'sign_in' : 'read', messageOf(error))
}

const silent = { log: () => {} }

export function makeDatabricks(reach: Reach): Warehouse {
  async function query(target: Target, { text, params, limit, timeoutMs, signal }: Query): Promise<QueryResult> {
    const { DBSQLClient } = await import('@databricks/sql')
    const web = webOf(target.config)
    const proxy = await openProxy(reach, web)
    const client = new DBSQLClient({ logger: silent })
    client.on('error', () => {})
    const close = closeWhenOver(proxy, { signal, timeoutMs }, () =>
      Promise.race([client.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]),
    )
    try {
      await client.connect({
        host: web.host,
        port: web.port,
        path: textOf(target.config.http_path),
        token: target.secrets.token ?? '',
        socketTimeout: timeoutMs,
        telemetryEnabled: false,
        ...(web.ca && { customCaCert: web.ca }),
        proxy: {
          protocol: 'http',
          host: proxy.host,
          port: proxy.port,
          auth: { username: proxy.user, password: proxy.password },
        },
      })
      const session = await client.openSession({
        ...(target.config.catalog !== undefined && { initialCatalog: textOf(target.config.catalog) }),
        ...(target.config.schema !== undefined && { initialSchema: textOf(target.config.schema) }),
      })
      const operation = await session.executeStatement(asSubquery(text, limit), {
        queryTimeout: Math.ceil(timeoutMs / 1000),
        maxRows: Math.min(PAGE_ROWS, limit),
        useCloudFetch: false,
        ...(Array.isArray(params) && { ordinalParameters: params as never }),
        ...(params !== undefined && !Array.isArray(params) && { namedParameters: params as never }),
      })
      const schema = await operation.getSchema()
      const names = (schema?.columns ?? []).map(({ columnName }) => columnName)
      async function* pages(): AsyncGenerator<JsonObject[]> {
        try {
          do {
            const rows = (await operation.fetchChunk({ maxRows: Math.min(PAGE_ROWS, limit) })) as Record<
              string,
              unknown
            >[]
            if (rows.length > 0)
              yield rows.map((row) =>
                rowOf(
                  names,
                  names.map((name) => row[name]),
                ),
              )
          } while (await operation.hasMoreRows())
        } catch (error) {
          throw told(error)
        } finally {
          await close()
        }
      }
      return { columns: names.map((name) => ({ name, type: '' })), pages: limited(pages(), limit) }
    } catch (error) {
      await close()
      throw told(error)
    }
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
  }
}
