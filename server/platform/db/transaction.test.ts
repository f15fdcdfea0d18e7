import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Database, openDatabase } from './pool.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent') })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const WORKER = '01a1df00-0000-7000-8000-000000000001'
const register = `insert into workers (worker_id, host, pid) values ('${WORKER}', 'here', 1)`
const registered = () => db.engine((tx) => tx.rows('select from workers where worker_id = $1', [WORKER]))

test('a statement that fails before the commit fails the transaction, and none of its writes remain', async () => {
  const failing = db.engine(async (tx) => {
    tx.send(register)
    tx.send('select 1 / $1::integer', [0])
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  const swallowed = db.engine(async (tx) => {
    tx.send(register)
    await tx.rows('select 1 / $1::integer', [0]).catch(() => {})
  })
  await expect(swallowed).rejects.toThrow('a statement failed and its transaction continued')
  expect(await registered()).toEqual([])
})

test('a connection lost before the commit is reported once, and the next transaction gets another connection', async () => {
  const superuser = await database.superuser()
  let ending: Promise<unknown> | undefined
  const lost = db.engine(async (tx) => {
    const { pid } = await tx.row<{ pid: number }>('select pg_backend_pid() as pid')
    tx.send('select pg_sleep(60)')
    ending = superuser.query('select pg_terminate_backend($1)', [pid])
  })
  await expect(lost).rejects.toMatchObject({ code: 'unavailable' })
  await ending
  await db.engine(async (tx) => tx.send(register))
  expect(await registered()).toHaveLength(1)
})
