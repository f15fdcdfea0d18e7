import type { ClickHouseClient } from '@clickhouse/client'
import type { JsonObject } from '#model/definition'
import {
  bareStatement,
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
  uniqueNames,
  type Web,
  webAgent,
} from './common.ts'
import { type Query, type QueryResult, type Target, type Warehouse, WarehouseFailure } from './index.ts'

function webOf(config: JsonObject): Web {
  const https = config.https !== false
  return {
    host: textOf(config.host),
    port: Number(config.port ?? (https ? 8443 : 8123)),
    https,
    ...(typeof config.ca === 'string' && { ca: config.ca }),
  }
}

/** ClickHouse's own numbers for who may not come in. */
const SIGN_IN = new Set(['516', '192', '193', '194', '497'])

function told(error: unknown): WarehouseFailure {
  if (error instanceof WarehouseFailure) return error
  return new WarehouseFailure(
    SIGN_IN.has(String((error as { code?: string }).code)) ? 'sign_in' : 'read',
    messageOf(error),
  )
}

export function makeClickhouse(reach: Reach): Warehouse {
  async function connect({ config, secrets }: Target, timeoutMs: number): Promise<ClickHouseClient> {
    const { createClient } = await import('@clickhouse/client')
    const web = webOf(config)
    reach.checkLiteral(web.host, web.port)
    return createClient({
      url: `${web.https ? 'https' : 'http'}://${web.host}:${web.port}`,
      username: textOf(config.user) || 'default',
      password: secrets.password ?? '',
      ...(config.database !== undefined && { database: textOf(config.database) }),
      http_agent: webAgent(reach, web),
      request_timeout: timeoutMs,
      application: 'heddle',
      log: { level: 127 as never },
    })
  }

  async function query(target: Target, { text, params, limit, timeoutMs, signal }: Query): Promise<QueryResult> {
    const client = await connect(target, timeoutMs)
    try {
      const answer = await client.query({
        query: bareStatement(text),
        format: 'JSONCompactEachRowWithNamesAndTypes',
        ...(params !== undefined && !Array.isArray(params) && { query_params: params }),
        clickhouse_settings: {
          readonly: '1',
          max_result_rows: String(limit),
          result_overflow_mode: 'break',
          max_execution_time: Math.ceil(timeoutMs / 1000),
          output_format_json_quote_64bit_integers: 1,
        },
        abort_signal: signal,
      })
      const rows = (answer.stream() as AsyncIterable<{ json(): unknown[] }[]>)[Symbol.asyncIterator]()
      const header: string[][] = []
      let rest: unknown[][] = []
      while (header.length < 2) {
        const { value, done } = await rows.next()
        if (done) break
        for (const row of value) (header.length < 2 ? header : rest).push(row.json() as string[])
      }
      const names = uniqueNames(header[0] ?? [])
      const types = header[1] ?? []
      const toRow = (cells: unknown[]): JsonObject =>
        rowOf(
          names,
          cells.map((cell, at) => (/^U?Int64/.test(types[at] ?? '') ? exact(cell) : cell)),
        )
      async function* pages(): AsyncGenerator<JsonObject[]> {
        try {
          if (rest.length > 0) yield rest.map(toRow)
          rest = []
          for (;;) {
            const { value, done } = await rows.next()
            if (done) return
            yield value.map((row) => toRow(row.json()))
          }
        } catch (error) {
          throw told(error)
        } finally {
          await client.close()
        }
      }
      return {
        columns: names.map((name, index) => ({ name, type: types[index] ?? '' })),
        pages: limited(pages(), limit),
      }
    } catch (error) {
      await client.close()
      throw told(error)
    }
  }

  return {
    kind: 'clickhouse',
    title: 'ClickHouse',
    config_schema: {
      type: 'object',
      required: ['host'],
      additionalProperties: false,
      properties: {
        host: hostSchema,
        port: portSchema(8443),
        https: { type: 'boolean', title: 'HTTPS', default: true },
        database: nameSchema('Database'),
        user: nameSchema('User'),
        ca: { type: 'string', title: 'Certificate authority (PEM)', maxLength: 65_536 },
      },
    },
    secret_fields: [{ name: 'password', title: 'Password', required: false }],
    destination: (config) => destinationOf(webOf(config)),
    probe: probeOver(reach, webOf, query),
    query,
    readTable: (table) => `select * from ${quoteTable(table, '`')}`,
  }
}

const exact = (cell: unknown): unknown =>
  typeof cell === 'string' && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell
