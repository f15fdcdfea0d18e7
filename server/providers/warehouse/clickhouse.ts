import type { ClickHouseClient } from '@clickhouse/client'
import type { Json, JsonObject } from '#model/definition'
import { exactIn } from './clickhouse-values.ts'
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
  rowOf,
  type TargetAccess,
  textOf,
  uniqueNames,
  type Web,
  webAgent,
} from './common.ts'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Rows,
  type RowWriter,
  type Statement,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Work,
} from './index.ts'
import { executeOneByOne, portionsOf, quoteNames } from './writing.ts'

function webOf(config: JsonObject): Web {
  const https = config.https !== false
  return {
    host: textOf(config.host),
    port: Number(config.port ?? (https ? 8443 : 8123)),
    https,
    ...(typeof config.ca === 'string' && { ca: config.ca }),
  }
}

/** ClickHouse's error codes for a refused sign-in. */
const SIGN_IN = new Set(['516', '192', '193', '194', '497'])

function toFailure(error: unknown): WarehouseFailure {
  if (error instanceof WarehouseFailure) return error
  return new WarehouseFailure(
    SIGN_IN.has(String((error as { code?: string }).code)) ? 'sign_in' : 'read',
    messageOf(error),
  )
}

/**
 * The error codes of statements that the server refuses before it changes anything: a wrong name, syntax or permission.
 */
const REFUSED = new Set(['16', '36', '46', '47', '60', '62', '81', '164', ...SIGN_IN])
const isRefusal = (error: unknown): boolean => REFUSED.has(String((error as { code?: unknown }).code))

const MAX_ROWS = 1_000
const MAX_KEYS = 200

const textOfKey = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * ClickHouse has no transactions and no upsert: rows with the same key are deleted, then all rows are inserted. Keys
 * are compared as texts, because a parameter needs a type and the type of the column is unknown here.
 */
export const clickhouseWriting: RowWriter = {
  transaction: false,
  statementsFor({ table, columns, rows, key }: Rows): Statement[] {
    const quoted = quoteNames({ open: '`', close: '`' }, { table, columns, key })
    const at = key.map((column) => columns.indexOf(column))
    const inserts = portionsOf(rows, MAX_ROWS).map(
      (some): Statement => ({ text: '', params: some, of: { table: quoted.table, columns: quoted.columns } }),
    )
    if (key.length === 0) return inserts
    const deletes = portionsOf(rows, MAX_KEYS).map((some): Statement => {
      const params: Json[] = []
      const where = some.map((row) => {
        const parts = at.map((index, n) => {
          params.push(textOfKey(row[index]!))
          return `toString(${quoted.key[n]}) = {p${params.length}:String}`
        })
        return `(${parts.join(' and ')})`
      })
      return { text: `delete from ${quoted.table} where ${where.join(' or ')}`, params }
    })
    return [...deletes, ...inserts]
  },
}

/** Returns the parameters by name, for `{p1:String}`, `{p2:UInt64}` … in the text. */
const named = (params: Json[]): Record<string, unknown> =>
  Object.fromEntries(params.map((value, at) => [`p${at + 1}`, value]))

export function makeClickhouse(reach: TargetAccess): Warehouse {
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
          output_format_json_quote_decimals: 1,
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
          cells.map((cell, at) => exactIn(types[at] ?? '', cell as Json)),
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
          throw toFailure(error)
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
      throw toFailure(error)
    }
  }

  async function execute(target: Target, work: Work): Promise<Executed> {
    const client = await connect(target, work.timeoutMs)
    const settings = { max_execution_time: Math.ceil(work.timeoutMs / 1000), wait_end_of_query: 1 as const }
    const run = async ({ text, params, of }: Statement): Promise<number | null> => {
      const options = { clickhouse_settings: settings, abort_signal: work.signal }
      const { summary } = of
        ? await client.insert({
            table: of.table,
            columns: of.columns as [string, ...string[]],
            values: params,
            format: 'JSONCompactEachRow',
            ...options,
          })
        : await client.command({ query: bareStatement(text), query_params: named(params), ...options })
      return of ? params.length : summary?.written_rows === undefined ? null : Number(summary.written_rows)
    }
    try {
      return await executeOneByOne(run, work, isRefusal)
    } finally {
      await client.close()
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
    writing: clickhouseWriting,
    execute,
  }
}
