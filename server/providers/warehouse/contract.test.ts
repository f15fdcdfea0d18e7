import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { isSlowRun } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { bareStatement } from './common.ts'
import { type Query, type Target, WarehouseFailure, type WarehouseKind, type Warehouses } from './index.ts'
import { startBigquery } from './testing/bigquery.ts'
import { makeCertificate, trust } from './testing/certificate.ts'
import { startClickhouse } from './testing/clickhouse.ts'
import { startDatabricks } from './testing/databricks.ts'
import { makePersonalWarehouse } from './testing/postgres.ts'
import { startSnowflake } from './testing/snowflake.ts'
import { makeWarehouses } from './warehouses.ts'

// Every kind passes the same contract. PostgreSQL and DuckDB are real; for the others, the vendors' own clients connect
// to stand-ins that implement the part of the protocol that the clients use.

const SECRET = `s3cret-${randomBytes(8).toString('hex')}`

type Subject = {
  kind: WarehouseKind
  target: Target
  /** The same target with a wrong credential. Undefined if the kind has no credential. */
  wrong?: Target
  /** A statement that returns 2,500 rows with `n` from 1. */
  many: string
  changing: string
  n: string
}

const subjects: Partial<Record<WarehouseKind, Subject>> = {}
const closers: (() => Promise<unknown>)[] = []
let close: () => Promise<void>
let warehouses: Warehouses
let canary: Server
let caught = 0

const targetOf = (config: JsonObject, secrets: Record<string, string>): Target => ({
  workspaceId: 'w1',
  config,
  secrets,
})

beforeAll(async () => {
  const cluster = new URL(inject('postgres').superuserUrl)
  const clickhouse = await startClickhouse('reader', SECRET)
  const bigquery = await startBigquery()
  const certificate = makeCertificate()
  const forget = trust(certificate.cert)
  closers.push(async () => forget())
  const snowflake = await startSnowflake('reader', SECRET, certificate)
  const databricks = await startDatabricks(SECRET, certificate)
  const directory = await makeTemporaryDirectory()
  const postgres = await makePersonalWarehouse(cluster.href, SECRET)
  canary = createServer((socket) => {
    caught += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  const at = (port: number): string => `127.0.0.1:${port}`
  ;({ warehouses, close } = makeWarehouses({
    allowTargets: [
      `${cluster.hostname}:${cluster.port}`,
      at(clickhouse.port),
      at(bigquery.port),
      at(snowflake.port),
      at(databricks.port),
    ],
    dataDir: directory.path,
  }))
  closers.push(
    clickhouse.close,
    bigquery.close,
    snowflake.close,
    databricks.close,
    postgres.drop,
    directory.remove,
    close,
  )

  const pgConfig = { host: cluster.hostname, port: Number(cluster.port), database: 'postgres', user: postgres.user }
  subjects.postgres = {
    kind: 'postgres',
    target: targetOf(pgConfig, { password: SECRET }),
    wrong: targetOf(pgConfig, { password: `${SECRET}!` }),
    many: `select n, 'number ' || n as name from generate_series(1, 2500) n order by n`,
    changing: 'create table x (a int)',
    n: 'n',
  }
  // Redshift uses PostgreSQL's protocol; encryption.test.ts tests both over TLS.
  subjects.redshift = {
    ...subjects.postgres,
    kind: 'redshift',
    target: targetOf({ ...pgConfig, ssl: 'off' }, { password: SECRET }),
    wrong: targetOf({ ...pgConfig, ssl: 'off' }, { password: `${SECRET}!` }),
  }
  subjects.duckdb = {
    kind: 'duckdb',
    target: targetOf({ file: 'contract' }, {}),
    many: `select i + 1 as n, 'number ' || (i + 1) as name from range(2500) r(i) order by n`,
    changing: 'create table x (a int)',
    n: 'n',
  }
  const clickhouseConfig = { host: '127.0.0.1', port: clickhouse.port, https: false, user: 'reader' }
  subjects.clickhouse = {
    kind: 'clickhouse',
    target: targetOf(clickhouseConfig, { password: SECRET }),
    wrong: targetOf(clickhouseConfig, { password: `${SECRET}!` }),
    many: 'select n, name from numbers',
    changing: 'insert into numbers values (1)',
    n: 'n',
  }
  const endpoint = `http://127.0.0.1:${bigquery.port}`
  const other = await startBigquery()
  closers.push(other.close)
  subjects.bigquery = {
    kind: 'bigquery',
    target: targetOf({ project_id: 'p', endpoint }, { service_account: bigquery.serviceAccount(`${endpoint}/token`) }),
    wrong: targetOf({ project_id: 'p', endpoint }, { service_account: other.serviceAccount(`${endpoint}/token`) }),
    many: 'select n, name from d.numbers',
    changing: 'insert into d.numbers values (1)',
    n: 'n',
  }
  const snowflakeConfig = { account: 'acme', user: 'reader', endpoint: `https://127.0.0.1:${snowflake.port}` }
  subjects.snowflake = {
    kind: 'snowflake',
    target: targetOf(snowflakeConfig, { password: SECRET }),
    wrong: targetOf(snowflakeConfig, { password: `${SECRET}!` }),
    many: 'select n, name from numbers',
    changing: 'insert into numbers values (1)',
    n: 'N',
  }
  const databricksConfig = {
    host: '127.0.0.1',
    port: databricks.port,
    http_path: '/sql/1.0/warehouses/a',
    ca: certificate.cert,
  }
  subjects.databricks = {
    kind: 'databricks',
    target: targetOf(databricksConfig, { token: SECRET }),
    wrong: targetOf(databricksConfig, { token: `${SECRET}!` }),
    many: 'select n, name from numbers',
    changing: 'insert into numbers values (1)',
    n: 'n',
  }
})
afterAll(async () => {
  for (const close of closers) await close()
  canary.close()
})

const options = () => ({ timeoutMs: 20_000, signal: new AbortController().signal })

async function rowsOf(subject: Subject, query: Partial<Query> & { text: string }): Promise<JsonObject[]> {
  const { pages } = await warehouses[subject.kind].query(subject.target, { limit: 100_000, ...options(), ...query })
  const rows: JsonObject[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}
const failureOf = (work: Promise<unknown>): Promise<WarehouseFailure> =>
  work.then(
    () => expect.fail('it worked'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(WarehouseFailure)
      return error as WarehouseFailure
    },
  )

/** Redshift is accessed like PostgreSQL. The clients of the other vendors take a second to start each time. */
const SLOW: WarehouseKind[] = ['redshift', 'bigquery', 'snowflake', 'databricks']

describe.each<WarehouseKind>(['postgres', 'duckdb', 'clickhouse', ...(isSlowRun ? SLOW : [])])('%s', (kind) => {
  const subject = (): Subject => subjects[kind]!

  test('can be probed', async () => {
    await warehouses[kind].probe(subject().target, options())
  })

  test('returns all rows in order, page by page, or the requested number of rows', async () => {
    const { n, many } = subject()
    const rows = await rowsOf(subject(), { text: many })
    expect(rows.map((row) => row[n])).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1))
    expect(await rowsOf(subject(), { text: `${many};`, limit: 3 })).toHaveLength(3)
    const { columns, pages } = await warehouses[kind].query(subject().target, { text: many, limit: 1, ...options() })
    expect(columns.map(({ name }) => name).slice(0, 2)).toEqual([n, n === 'N' ? 'NAME' : 'name'])
    // A reader that stops midway leaves no connection open.
    for await (const _page of pages) break
  })

  test('refuses a statement that changes data', async () => {
    expect((await failureOf(rowsOf(subject(), { text: subject().changing }))).step).toBe('read')
  })

  test('reports a table that does not exist', async () => {
    const failure = await failureOf(rowsOf(subject(), { text: warehouses[kind].readTable('gone') }))
    expect([failure.step, failure.message]).toEqual(['read', expect.stringMatching(/gone/i)])
    expect(() => warehouses[kind].readTable('x"`; drop table y')).toThrow(WarehouseFailure)
  })

  test('refuses a wrong credential without revealing it', async () => {
    const { wrong } = subject()
    if (!wrong) return
    const failure = await failureOf(warehouses[kind].probe(wrong, options()))
    expect(failure.step).toBe('sign_in')
    for (const secret of Object.values(wrong.secrets)) expect(failure.message).not.toContain(secret)
    expect(failure.message).not.toContain(SECRET)
  })

  test('stops when the caller aborts', async () => {
    const cancel = new AbortController()
    cancel.abort()
    await failureOf(warehouses[kind].probe(subject().target, { timeoutMs: 20_000, signal: cancel.signal }))
  })

  test('never connects to a private address that is not allowed', async () => {
    if (kind === 'duckdb') return
    const { port } = canary.address() as AddressInfo
    const config: JsonObject = { ...subject().target.config }
    if ('endpoint' in config) config.endpoint = String(config.endpoint).replace(/\d+$/, String(port))
    else config.port = port
    const moved = { ...subject().target, config }
    expect((await failureOf(warehouses[kind].probe(moved, options()))).step).toBe('resolve')
    await failureOf(warehouses[kind].query(moved, { text: 'select 1', limit: 1, ...options() }))
    expect(caught).toBe(0)
  })
})

test('long DuckDB rows are returned in small pages, and a row that is too long is refused', async () => {
  const { target } = subjects.duckdb!
  const text = "select repeat('x', 50000) as long from range(200)"
  const { pages } = await warehouses.duckdb.query(target, { text, limit: 150, ...options() })
  const sizes: number[] = []
  for await (const page of pages) sizes.push(page.length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(150)
  expect(Math.max(...sizes)).toBeLessThan(25)
  const endless = rowsOf(subjects.duckdb!, { text: "select repeat('x', 5000000) as long" })
  expect(await failureOf(endless)).toMatchObject({ step: 'read', message: expect.stringContaining('4 MiB') })
})

test('semicolons at the end of a statement are removed quickly, even with very long runs of spaces', () => {
  expect(bareStatement('select 1 ; ;\n;')).toBe('select 1')
  const spacious = `select${' '.repeat(900_000)}1`
  expect(bareStatement(`${spacious};`) === spacious).toBe(true)
})

test('a BigQuery key that names another token address is refused before anything is sent', async () => {
  const { target } = subjects.bigquery!
  const account = JSON.parse(target.secrets.service_account!) as JsonObject
  const { port } = canary.address() as AddressInfo
  const lured = {
    ...target,
    secrets: { service_account: JSON.stringify({ ...account, token_uri: `http://127.0.0.1:${port}/token` }) },
  }
  expect((await failureOf(warehouses.bigquery.probe(lured, options()))).step).toBe('sign_in')
  expect(caught).toBe(0)
})
