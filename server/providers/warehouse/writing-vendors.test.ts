import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { isSlowRun } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { type Statement, type Target, WarehouseFailure, type WarehouseKind, type Warehouses } from './index.ts'
import { startBigquery } from './testing/bigquery.ts'
import { makeCertificate, trust } from './testing/certificate.ts'
import { startClickhouse } from './testing/clickhouse.ts'
import { startDatabricks } from './testing/databricks.ts'
import { startSnowflake } from './testing/snowflake.ts'
import { makeWarehouses } from './warehouses.ts'

// Tests every kind that can be written to, except the databases that have their own tests. DuckDB is real; the
// stand-ins refuse every request that differs from the vendor's documentation.

const SECRET = `s3cret-${randomBytes(8).toString('hex')}`
const KINDS = ['duckdb', 'snowflake', 'bigquery', 'databricks', 'clickhouse'] as const
type Kind = (typeof KINDS)[number]

type Subject = { target: Target; wrong?: Target; table: string; read(): Promise<[number, string | null][]> }

const subjects = {} as Record<Kind, Subject>
const closers: (() => Promise<unknown>)[] = []
let warehouses: Warehouses
let said: { bigquery: string[]; snowflake: string[] }

const targetOf = (config: JsonObject, secrets: Record<string, string>): Target => ({
  workspaceId: 'w1',
  config,
  secrets,
})
const limits = () => ({ timeoutMs: 30_000, signal: new AbortController().signal })

const execute = (kind: WarehouseKind, statements: Statement[], target = subjects[kind as Kind].target) =>
  warehouses[kind].execute!(target, { statements, ...limits(), beyond: async () => {} })

const upsert = (kind: Kind, rows: Json[][], key: string[] = ['id']) =>
  warehouses[kind].writing!.statementsFor({ table: subjects[kind].table, columns: ['id', 'name'], rows, key })

const failureOf = (work: Promise<unknown>): Promise<WarehouseFailure> =>
  work.then(
    () => expect.fail('it worked'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(WarehouseFailure)
      return error as WarehouseFailure
    },
  )

beforeAll(async () => {
  const certificate = makeCertificate()
  const forget = trust(certificate.cert)
  closers.push(async () => forget())
  const clickhouse = await startClickhouse('writer', SECRET)
  const bigquery = await startBigquery()
  const snowflake = await startSnowflake('writer', SECRET, certificate)
  const databricks = await startDatabricks(SECRET, certificate)
  const directory = await makeTemporaryDirectory()
  said = { bigquery: bigquery.said, snowflake: snowflake.said }
  const made = makeWarehouses({
    allowTargets: [clickhouse, bigquery, snowflake, databricks].map(({ port }) => `127.0.0.1:${port}`),
    dataDir: directory.path,
  })
  ;({ warehouses } = made)
  for (const { close } of [clickhouse, bigquery, snowflake, databricks]) closers.push(close)
  closers.push(directory.remove, made.close)
  const inOrder = (leads: Map<number, string | null>) => async () => [...leads].sort(([a], [b]) => a - b)

  const duckdb = targetOf({ file: 'written' }, {})
  subjects.duckdb = {
    target: duckdb,
    table: 'leads',
    async read() {
      const text = 'select id, name from leads order by id'
      const { pages } = await warehouses.duckdb.query(duckdb, { text, limit: 1_000, ...limits() })
      const rows: [number, string | null][] = []
      for await (const page of pages) for (const row of page) rows.push([Number(row.id), row.name as string | null])
      return rows
    },
  }
  const clickhouseConfig = { host: '127.0.0.1', port: clickhouse.port, https: false, user: 'writer' }
  subjects.clickhouse = {
    target: targetOf(clickhouseConfig, { password: SECRET }),
    wrong: targetOf(clickhouseConfig, { password: `${SECRET}!` }),
    table: 'leads',
    read: inOrder(clickhouse.leads),
  }
  const endpoint = `http://127.0.0.1:${bigquery.port}`
  subjects.bigquery = {
    target: targetOf({ project_id: 'p', endpoint }, { service_account: bigquery.serviceAccount(`${endpoint}/token`) }),
    table: 'd.leads',
    read: inOrder(bigquery.leads),
  }
  const snowflakeConfig = { account: 'acme', user: 'writer', endpoint: `https://127.0.0.1:${snowflake.port}` }
  subjects.snowflake = {
    target: targetOf(snowflakeConfig, { password: SECRET }),
    wrong: targetOf(snowflakeConfig, { password: `${SECRET}!` }),
    table: 'leads',
    read: inOrder(snowflake.leads),
  }
  const databricksConfig = {
    host: '127.0.0.1',
    port: databricks.port,
    http_path: '/sql/1.0/warehouses/a',
    ca: certificate.cert,
  }
  subjects.databricks = {
    target: targetOf(databricksConfig, { token: SECRET }),
    wrong: targetOf(databricksConfig, { token: `${SECRET}!` }),
    table: 'leads',
    read: inOrder(databricks.leads),
  }
  await execute('duckdb', [{ text: 'create table leads (id integer primary key, name text)', params: [] }], duckdb)
})
afterAll(async () => {
  for (const close of closers) await close()
})

/** The clients of these vendors take a second or two to start each time. */
const isSlow = (kind: Kind): boolean => kind === 'snowflake' || kind === 'databricks'

describe.each(KINDS.filter((kind) => isSlowRun || !isSlow(kind)))('%s', (kind) => {
  test('inserts rows, updates them by key, and counts them', async () => {
    const subject = subjects[kind]
    expect(
      await execute(
        kind,
        upsert(
          kind,
          [
            [1, 'Ada'],
            [2, null],
          ],
          [],
        ),
      ),
    ).toMatchObject({ affected: [2] })
    const { affected } = await execute(
      kind,
      upsert(kind, [
        [2, "B'ob"],
        [3, 'Cem'],
      ]),
    )
    expect(affected.at(-1)).toBe(2)
    expect(await subject.read()).toEqual([
      [1, 'Ada'],
      [2, "B'ob"],
      [3, 'Cem'],
    ])
  })

  test('writes several batches', async () => {
    const many = Array.from({ length: 250 }, (_, n) => [1000 + n, `lead ${n}`])
    const statements = [...upsert(kind, many), ...upsert(kind, [[1000, 'again']])]
    await execute(kind, statements)
    const rows = (await subjects[kind].read()).filter(([id]) => id >= 1000)
    expect([rows.length, rows[0], rows[249]]).toEqual([250, [1000, 'again'], [1249, 'lead 249']])
  })

  test('reports what a failed execution has changed', async () => {
    const before = await subjects[kind].read()
    const wrong = { text: 'insert into nowhere', params: [] }
    const first = await failureOf(execute(kind, [wrong]))
    expect([first.step, first.changed]).toEqual(['write', 'nothing'])
    expect(await subjects[kind].read()).toEqual(before)
    const second = await failureOf(execute(kind, [...upsert(kind, [[9, 'Zoe']], []), wrong]))
    const { transaction } = warehouses[kind].writing!
    expect([second.step, second.changed]).toEqual(['write', transaction ? 'nothing' : 'unknown'])
    expect((await subjects[kind].read()).some(([id]) => id === 9)).toBe(!transaction)
  })

  test('refuses a wrong credential and changes nothing', async () => {
    const { wrong, read } = subjects[kind]
    if (!wrong) return
    const before = await read()
    const failure = await failureOf(execute(kind, upsert(kind, [[50, 'x']]), wrong))
    expect([failure.step === 'sign_in' || failure.step === 'write', failure.changed]).toEqual([true, 'nothing'])
    expect(failure.message).not.toContain(SECRET)
    expect(await read()).toEqual(before)
  })

  test.each([
    ['a table', { table: 'a"`; drop table b' }, 'is not the name of a table'],
    ['a column', { columns: ['id', 'n"` --'] }, 'is not the name of a column'],
    ['a key column that the rows do not have', { key: ['other'] }, 'no key column'],
  ])('refuses an invalid name: %s', (_what, more, message) => {
    const rows = { table: 'leads', columns: ['id', 'name'], rows: [[1, 'x']], key: [], ...more }
    expect(() => warehouses[kind].writing!.statementsFor(rows)).toThrow(message)
  })
})

test('several statements run in one transaction if the vendor supports transactions', () => {
  expect(said.snowflake.filter((text) => text === 'begin').length).toBe(
    said.snowflake.filter((text) => text === 'commit' || text === 'rollback').length,
  )
  const portions = said.bigquery.indexOf('begin transaction')
  expect(
    said.bigquery
      .slice(portions)
      .filter((text) => !/^(insert|merge)/.test(text))
      .slice(0, 3),
  ).toEqual(['begin transaction', 'commit transaction', 'call bq.abort_session()'])
})

describe('DuckDB', () => {
  test('writes only rows and tables, and only to a database with a name', async () => {
    for (const text of [
      'select 1',
      "copy leads to '/tmp/x'",
      "attach 'other.db'",
      'commit',
      'set threads = 4',
      'begin',
    ]) {
      const { changed, message } = await failureOf(execute('duckdb', [{ text, params: [] }]))
      expect([changed, message]).toEqual([
        'nothing',
        expect.stringMatching(/only insert|disabled by configuration|lock/i),
      ])
    }
    const two = await failureOf(execute('duckdb', [{ text: 'drop table leads; drop table leads', params: [] }]))
    expect(two.message).toContain('exactly one statement')
    const nowhere = await failureOf(
      execute('duckdb', [{ text: 'create table x (a int)', params: [] }], targetOf({}, {})),
    )
    expect([nowhere.changed, nowhere.message]).toEqual(['nothing', expect.stringContaining('has no database')])
  })

  test('makes reads wait for a transaction that writes, and writes wait for a read', async () => {
    const outcomes = await Promise.all([
      execute('duckdb', upsert('duckdb', [[70, 'a']])),
      subjects.duckdb.read(),
      execute('duckdb', upsert('duckdb', [[71, 'b']])),
    ])
    expect(outcomes).toHaveLength(3)
    expect((await subjects.duckdb.read()).filter(([id]) => id === 70 || id === 71)).toHaveLength(2)
  })
})
