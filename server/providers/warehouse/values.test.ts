import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { uniqueNames } from './common.ts'
import type { Target, WarehouseKind, Warehouses } from './index.ts'
import { startBigquery } from './testing/bigquery.ts'
import { makeCertificate, trust } from './testing/certificate.ts'
import { startClickhouse } from './testing/clickhouse.ts'
import { startDatabricks } from './testing/databricks.ts'
import { startSnowflake } from './testing/snowflake.ts'
import { makeWarehouses } from './warehouses.ts'

// Integers and decimals are numbers if a double represents them exactly, else text; bytes are base64. The stand-ins send
// what the vendors send.

const closers: (() => unknown)[] = []
const targets: Partial<Record<WarehouseKind, Target>> = {}
let warehouses: Warehouses

beforeAll(async () => {
  const certificate = makeCertificate()
  closers.push(trust(certificate.cert))
  const clickhouse = await startClickhouse('reader', 'secret')
  const bigquery = await startBigquery()
  const snowflake = await startSnowflake('reader', 'secret', certificate)
  const databricks = await startDatabricks('secret', certificate)
  const directory = await makeTemporaryDirectory()
  const made = makeWarehouses({
    allowTargets: [clickhouse, bigquery, snowflake, databricks].map(({ port }) => `127.0.0.1:${port}`),
    dataDir: directory.path,
  })
  warehouses = made.warehouses
  closers.push(made.close, clickhouse.close, bigquery.close, snowflake.close, databricks.close, directory.remove)
  const endpoint = `http://127.0.0.1:${bigquery.port}`
  const targetOf = (config: JsonObject, secrets: Record<string, string>): Target => ({
    workspaceId: 'w',
    config,
    secrets,
  })
  targets.duckdb = targetOf({}, {})
  targets.clickhouse = targetOf(
    { host: '127.0.0.1', port: clickhouse.port, https: false, user: 'reader' },
    { password: 'secret' },
  )
  targets.bigquery = targetOf(
    { project_id: 'p', endpoint },
    { service_account: bigquery.serviceAccount(`${endpoint}/token`) },
  )
  targets.snowflake = targetOf(
    { account: 'acme', user: 'reader', endpoint: `https://127.0.0.1:${snowflake.port}` },
    { password: 'secret' },
  )
  targets.databricks = targetOf(
    { host: '127.0.0.1', port: databricks.port, http_path: '/sql/1.0/warehouses/a', ca: certificate.cert },
    { token: 'secret' },
  )
})
afterAll(async () => {
  for (const close of closers) await close()
})

async function rowsOf(kind: WarehouseKind, text: string): Promise<JsonObject[]> {
  const { signal } = new AbortController()
  const { pages } = await warehouses[kind].query(targets[kind]!, { text, limit: 100, timeoutMs: 90_000, signal })
  const rows: JsonObject[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}

test('DuckDB values inside of lists and records are read like other values, and bytes are base64', async () => {
  const text = `select [7::bigint, 9007199254740993] as ids, {'sum': 12.50::decimal(9, 2)} as line,
    '\\x00\\xFF'::blob as bytes, ['\\x00\\xFF'::blob] as parts, 12345678901234567.89::decimal(38, 2) as sum`
  expect(await rowsOf('duckdb', text)).toEqual([
    {
      ids: [7, '9007199254740993'],
      line: { sum: 12.5 },
      bytes: 'AP8=',
      parts: ['AP8='],
      sum: '12345678901234567.89',
    },
  ])
})

test('ClickHouse numbers are exact, also decimals and those in nullable values, lists, maps and tuples', async () => {
  expect(await rowsOf('clickhouse', 'select * from exact')).toEqual([
    {
      id: '9007199254740993',
      sum: '12345678901234567.89',
      ids: [7, '-9007199254740993'],
      sums: { a: 12.5 },
      line: { id: 7, name: '8' },
    },
    { id: null, sum: null, ids: [], sums: {}, line: { id: 0, name: '' } },
  ])
})

test('BigQuery integers are exact, and dates, decimals and places in records are plain values', async () => {
  expect(await rowsOf('bigquery', 'select * from d.exact')).toEqual([
    {
      id: '9007199254740993',
      ids: [7, '-9007199254740993'],
      place: 'POINT(4 52)',
      lines: [{ day: '2026-01-31', sum: 12.5, big: '12345678901234567.89', bytes: 'AP8=' }],
    },
  ])
})

test('Snowflake numbers are exact, and each value has the name of its column', async () => {
  expect(await rowsOf('snowflake', 'select * from exact')).toEqual([
    { ID: '9007199254740993', SUM: '12345678901234567.89', 2025: 0.30000000000000004, ID_2: 'first' },
    { ID: 7, SUM: 12.5, 2025: '-Infinity', ID_2: null },
    { ID: null, SUM: null, 2025: null, ID_2: 'last' },
  ])
})

test('Databricks integers and decimals are exact', async () => {
  expect(await rowsOf('databricks', 'select * from exact')).toEqual([
    { id: '9007199254740993', sum: '12345678901234567.89' },
    { id: 7, sum: 12.5 },
  ])
})

test('columns of the same name get different names', () => {
  expect(uniqueNames(['a', 'a', 'a_2', 'b', 'a'])).toEqual(['a', 'a_3', 'a_2', 'b', 'a_4'])
  expect(uniqueNames(['a', 'a'])).toEqual(['a', 'a_2'])
})
