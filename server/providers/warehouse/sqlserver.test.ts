import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSlowRun } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { type Statement, type Target, type Warehouse, WarehouseFailure } from './index.ts'
import { isSingleStatement } from './sqlserver-text.ts'
import { type FakeSqlServer, startSqlserver } from './testing/sqlserver.ts'
import { makeWarehouses } from './warehouses.ts'

// Tests the vendor's own driver, in a separate process, with a stand-in that refuses unexpected requests.

let server: FakeSqlServer
let warehouse: Warehouse
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  server = await startSqlserver('ada', 'secret')
  const directory = await makeTemporaryDirectory()
  const { warehouses, close } = makeWarehouses({ allowTargets: [`127.0.0.1:${server.port}`], dataDir: directory.path })
  warehouse = warehouses.sqlserver
  closers.push(close, server.close, directory.remove)
})
afterAll(async () => {
  for (const close of closers) await close()
})

const { signal } = new AbortController()
const target = (config: object = {}, password = 'secret'): Target => ({
  workspaceId: 'w',
  config: { host: '127.0.0.1', port: server.port, database: 'd', user: 'ada', ...config },
  secrets: { password },
})
const failureOf = (promise: Promise<unknown>): Promise<WarehouseFailure> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => (error instanceof WarehouseFailure ? error : Promise.reject(error)),
  )
const rowsOf = async (text: string, more: { params?: never[] | string[]; limit?: number } = {}) => {
  const { pages } = await warehouse.query(target(), { text, limit: 10, timeoutMs: 90_000, signal, ...more })
  const rows = []
  for await (const page of pages) rows.push(...page)
  return rows
}
const execute = (statements: Statement[]) =>
  warehouse.execute!(target(), { statements, timeoutMs: 90_000, signal, beyond: async () => {} })

describe('SQL Server', () => {
  test('is probed, and refuses a wrong password without revealing it', async () => {
    await warehouse.probe(target(), { timeoutMs: 90_000, signal })
    const failure = await failureOf(warehouse.probe(target({}, 'wrong-secret'), { timeoutMs: 90_000, signal }))
    expect(failure.step).toBe('sign_in')
    expect(failure.message).not.toContain('wrong-secret')
  })

  test('receives no sign-in if encryption is required and the server has none', async () => {
    for (const ssl of isSlowRun ? ['verify', 'no-verify', 'require', true] : ['verify', 'require']) {
      const failure = await failureOf(warehouse.probe(target({ ssl }), { timeoutMs: 90_000, signal }))
      expect([ssl, failure.step]).toEqual([ssl, 'tls'])
    }
    for (const ssl of isSlowRun ? ['off', 'prefer'] : ['prefer'])
      await warehouse.probe(target({ ssl }), { timeoutMs: 90_000, signal })
  })

  test('reads page by page, with parameters, and only text that is a subquery', async () => {
    const rows = await rowsOf('select n, name from numbers;', { limit: 2_500 })
    expect([rows.length, rows[2_499]]).toEqual([2_500, { n: '2500', name: 'number 2500' }])
    expect(await rowsOf('select n, name from numbers', { limit: 2 })).toHaveLength(2)
    expect(await rowsOf('select @p1 as given', { params: ["it's"] })).toEqual([{ given: "it's" }])
    for (const text of ['drop table leads', 'select 1) as x; drop table leads; select * from (select 1'])
      expect((await failureOf(rowsOf(text))).step).toBe('read')
    expect(server.said.every((call) => !call.text.includes('; drop'))).toBe(true)
  })

  test('writes rows by key in one atomic transaction', async () => {
    const upsert = (rows: (string | number | null)[][]) =>
      warehouse.writing!.statementsFor({ table: 'leads', columns: ['id', 'name'], rows, key: ['id'] })
    expect(
      await execute(
        upsert([
          [1, 'Ada'],
          [2, null],
        ]),
      ),
    ).toEqual({ affected: [2] })
    expect(await execute(upsert([[2, 'Bob']]))).toEqual({ affected: [1] })
    const insert = (id: number) => ({ text: 'insert into leads values (@p1, @p2)', params: [id, 'x'] })
    const failure = await failureOf(execute([insert(9), insert(1)]))
    expect([failure.step, failure.changed]).toEqual(['write', 'nothing'])
    expect([...server.leads]).toEqual([
      [1, 'Ada'],
      [2, 'Bob'],
    ])
  })
})

test.each<[string, boolean]>([
  ['select 1', true],
  ['select (1)', true],
  ["select ')' from t", true],
  ['select [a)] from t', true],
  ['select [a]]) ] from t', true],
  ['select "a)" from t', true],
  ["select 'it''s )'", true],
  ['select 1 -- )', true],
  ['select 1 /* ) ; */', true],
  ['select 1 /* /* ) */ ; */', true],
  ['select 1) x', false],
  ['select (1', false],
  ['select 1; select 2', false],
  ["select 'a", false],
  ['select [a', false],
  ['select 1 /* a', false],
  ['select 1 /* /* */', false],
  ["select 1 -- '\n) x", false],
  ["select '--'\n) x", false],
])('a text that can be enclosed in parentheses: %s (%s)', (text, closed) => {
  expect(isSingleStatement(text)).toBe(closed)
})
