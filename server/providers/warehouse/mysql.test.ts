import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { type Statement, type Target, type Warehouse, WarehouseFailure } from './index.ts'
import { makeCertificate } from './testing/certificate.ts'
import { type MariaDb, mariadbMissing, startMariadb } from './testing/mariadb.ts'
import { makeWarehouses } from './warehouses.ts'

// Tests a real MariaDB end to end: the driver runs in a separate process.

const { signal } = new AbortController()
const failureOf = (promise: Promise<unknown>): Promise<WarehouseFailure> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => (error instanceof WarehouseFailure ? error : Promise.reject(error)),
  )

describe.skipIf(mariadbMissing !== null)(`MySQL (${mariadbMissing ?? 'MariaDB'})`, () => {
  let server: MariaDb
  let warehouse: Warehouse
  const certificate = makeCertificate()
  const closers: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    const directory = await makeTemporaryDirectory()
    const [cert, key] = [join('/tmp', `heddle-${process.pid}.crt`), join('/tmp', `heddle-${process.pid}.key`)]
    writeFileSync(cert, certificate.cert)
    writeFileSync(key, certificate.key, { mode: 0o644 })
    server = await startMariadb('ada', 'secret', { cert, key })
    const { warehouses, close } = makeWarehouses({
      allowTargets: [`127.0.0.1:${server.port}`],
      dataDir: directory.path,
    })
    warehouse = warehouses.mysql
    closers.push(close, server.close, directory.remove)
  })
  afterAll(async () => {
    for (const close of closers) await close()
  })

  const target = (config: object = {}, password = 'secret'): Target => ({
    workspaceId: 'w',
    config: { host: '127.0.0.1', port: server.port, database: 'heddle', user: 'ada', ...config },
    secrets: { password },
  })
  const rowsOf = async (text: string, more: { params?: (string | number)[]; limit?: number } = {}) => {
    const { pages } = await warehouse.query(target(), { text, limit: 10, timeoutMs: 90_000, signal, ...more })
    const rows = []
    for await (const page of pages) rows.push(...page)
    return rows
  }
  const execute = (statements: Statement[]) =>
    warehouse.execute!(target(), { statements, timeoutMs: 90_000, signal, beyond: async () => {} })

  test('is probed over verified TLS, and refuses a wrong password without revealing it', async () => {
    const probe = (config: object, password?: string) =>
      warehouse.probe(target(config, password), { timeoutMs: 90_000, signal })
    await probe({})
    await probe({ ssl: 'no-verify' })
    await probe({ ssl: 'verify', ca: certificate.cert })
    expect((await failureOf(probe({ ssl: 'verify' }))).step).toBe('tls')
    const failure = await failureOf(probe({}, 'wrong-secret'))
    expect([failure.step, failure.message.includes('wrong-secret')]).toEqual(['sign_in', false])
  })

  test('reads values unchanged, page by page, and refuses statements that do not only read', async () => {
    const [row] = await rowsOf(
      `select 1 as one, 9007199254740993 as big, 1.50 as price, 'x' as t, cast('2026-01-02 03:04:05' as datetime) as at, ? as given, null as n, 1 as one`,
      { params: ["it's"] },
    )
    expect(row).toEqual({
      one: 1,
      big: '9007199254740993',
      price: 1.5,
      t: 'x',
      at: '2026-01-02 03:04:05',
      given: "it's",
      n: null,
      one_2: 1,
    })
    const many = await rowsOf('select seq as n from seq_1_to_2500 order by seq', { limit: 2_500 })
    expect([many.length, many[2_499]]).toEqual([2_500, { n: 2_500 }])
    expect(await rowsOf('select seq as n from seq_1_to_2500', { limit: 2 })).toHaveLength(2)
    for (const text of [
      'create table x (a int)',
      'insert into t values (1)',
      'select 1; select 2',
      `select 1 into outfile '/tmp/x'`,
    ])
      expect((await failureOf(rowsOf(text))).step).toBe('read')
  })

  test('writes rows by key in one atomic transaction, and reads rows starting at a given value', async () => {
    await execute([{ text: 'create table leads (id int primary key, name varchar(40))', params: [] }])
    const upsert = (rows: (string | number | null)[][]) =>
      warehouse.writing!.statementsFor({ table: 'leads', columns: ['id', 'name'], rows, key: ['id'] })
    await execute(
      upsert([
        [1, 'Ada'],
        [2, null],
      ]),
    )
    await execute(upsert([[2, "B'); drop table leads; --"]]))
    const insert = (id: number) => ({ text: 'insert into leads values (?, ?)', params: [id, 'x'] })
    const failure = await failureOf(execute([insert(9), insert(1)]))
    expect([failure.step, failure.changed]).toEqual(['write', 'nothing'])
    expect(await rowsOf('select * from leads order by id')).toEqual([
      { id: 1, name: 'Ada' },
      { id: 2, name: "B'); drop table leads; --" },
    ])
    expect(await rowsOf(warehouse.readFrom!('select * from leads', 'id', false), { params: [2] })).toMatchObject([
      { id: 2 },
    ])
  })
})
