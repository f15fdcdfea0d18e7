import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { until } from '#test/harness/until'

let database: TestDatabase
let superuser: pg.Client
let proxy: NetworkProxy
const opened: pg.Client[] = []

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  await superuser.query('create table kept (n integer)')
})
afterAll(() => database.drop())
beforeEach(async () => {
  await superuser.query('truncate kept')
  proxy = await startProxy(targetOf(database.superuserUrl))
})
afterEach(async () => {
  await proxy.stop()
  await Promise.all(opened.splice(0).map((client) => client.end().catch(() => {})))
})

async function open(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: proxy.through(database.superuserUrl) })
  client.on('error', () => {})
  await client.connect()
  opened.push(client)
  return client
}

const kept = async (): Promise<number[]> =>
  (await superuser.query<{ n: number }>('select n from kept order by n')).rows.map(({ n }) => n)

const insert = (client: pg.Client, n: number) =>
  client.query({ name: 'insert', text: 'insert into kept values ($1)', values: [n] })

const inTransaction = async (client: pg.Client, n: number): Promise<void> => {
  await client.query('begin')
  await insert(client, n)
  await client.query('commit')
}

test('a cut during the confirmation leaves the row committed, and the client does not know', async () => {
  const client = await open()
  await inTransaction(client, 1)
  const hit = proxy.aim({ transaction: /into kept/, at: 'confirming' })
  await expect(inTransaction(client, 2)).rejects.toThrow()
  await hit
  expect(await kept()).toEqual([1, 2])
})

test('a cut while the client sends its COMMIT leaves nothing', async () => {
  const client = await open()
  await inTransaction(client, 1)
  const hit = proxy.aim({ transaction: /into kept/, at: 'sending' })
  await expect(inTransaction(client, 2)).rejects.toThrow()
  await hit
  expect(await kept()).toEqual([1])
})

test('a single statement is a transaction too; other statements are not affected', async () => {
  const client = await open()
  const hit = proxy.aim({ transaction: /into kept/, at: 'confirming' })
  await client.query('select 1')
  await expect(insert(client, 3)).rejects.toThrow()
  await hit
  expect(await kept()).toEqual([3])
})

test('a failed statement is not treated as committed', async () => {
  const client = await open()
  const hit = proxy.aim({ transaction: /into kept/, at: 'confirming' })
  await expect(client.query(`insert into kept values ('x')`)).rejects.toMatchObject({ code: '22P02' })
  await expect(insert(client, 4)).rejects.toThrow()
  await hit
})

test('a frozen proxy passes nothing, not even the close of a connection; afterwards everything arrives', async () => {
  const client = await open()
  const backend = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
  const alive = async () => (await superuser.query('select from pg_stat_activity where pid = $1', [backend])).rowCount
  proxy.freeze()
  const inserted = insert(client, 5)
  inserted.catch(() => {})
  const second = open()
  expect(await kept()).toEqual([])
  proxy.thaw()
  await inserted
  await second
  expect(await kept()).toEqual([5])
  proxy.freeze()
  const ending = client.end()
  expect(await alive()).toBe(1)
  proxy.thaw()
  await ending
  await until(async () => (await alive()) === 0, 'the backend to end')
})

test('a frozen response leaves a commit whose client waits', async () => {
  const client = await open()
  proxy.freeze('toClient')
  const inserted = insert(client, 6)
  await until(async () => (await kept()).length === 1, 'the row')
  proxy.thaw()
  await inserted
})
