import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { type FakePooler, startFakePooler } from '#test/harness/pooler'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { startProgram } from '#test/harness/program'
import { startProxy, targetOf } from '#test/harness/proxy'
import { openDatabase } from './pool.ts'
import { poolingOf, throughPooler } from './pooler.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())

const SCOPE = { workspaceId: null, userId: null }

test('neither a server nor a proxy that only forwards bytes is recognised as a pooler', async () => {
  expect(await poolingOf(database.urls.app)).toBe('none')
  const proxy = await startProxy(targetOf(database.superuserUrl))
  expect(await poolingOf(proxy.through(database.urls.app))).toBe('none')
  await proxy.stop()
})

describe.each([
  ['that knows statements by name', true],
  ['that does not', false],
])('a pooler in transaction mode %s', (_what, named) => {
  let pooler: FakePooler
  beforeAll(async () => {
    pooler = await startFakePooler(targetOf(database.superuserUrl), { named })
  })
  afterAll(() => pooler.stop())

  test('is recognised', async () => {
    expect(await poolingOf(pooler.through(database.urls.app))).toBe('transaction')
  })

  test('is used for transactions, while listening uses the server directly', async () => {
    const urls = await throughPooler(database.urls, pooler.through(database.urls.app), 'transaction')
    expect(urls).toMatchObject({ session: database.urls.app, pooler: named ? 'named' : 'unnamed' })
    const db = openDatabase({ urls, log: makeLogger('silent'), connections: { app: 4, engine: 2, operator: 1 } })
    const heard: string[] = []
    await db.listen('news', (payload) => void heard.push(payload))
    // More transactions at once than there are sessions. Each statement uses any free session.
    const sums = Array.from({ length: 40 }, (_, n) =>
      db.tenant(SCOPE, async (tx) => {
        await tx.rows('select $1::integer as first', [n])
        const { sum } = await tx.row<{ sum: number }>('select $1::integer + 1 as sum', [n])
        if (n === 7) tx.send(`select pg_notify('news', 'seven')`)
        return sum
      }),
    )
    expect(await Promise.all(sums)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
    await expect.poll(() => heard).toEqual(['seven'])
    await db.close()
  })
})

test('a pooler without sessions is refused with an explanation, unless there is a session address', async () => {
  const pooler = await startFakePooler(targetOf(database.superuserUrl), { named: true })
  const env = {
    HEDDLE_DATA_DIR: '/tmp/heddle-pooler-test',
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    DATABASE_URL: pooler.through(database.superuserUrl),
  }
  const { code, errors } = await startProgram(env, ['--role', 'worker']).ended
  expect(code).toBe(1)
  expect(errors).toContain('heddle cannot start: DATABASE_URL leads to a pooler that keeps no session')
  const program = startProgram({ ...env, DATABASE_SESSION_URL: database.superuserUrl }, ['--role', 'worker'])
  const base = await program.ready
  expect((await fetch(`${base}/readyz`)).status).toBe(200)
  expect(await program.stop()).toMatchObject({ code: 0 })
  await pooler.stop()
})

test('a server that cannot be used is reported with its reason and without the password', async () => {
  const env = {
    HEDDLE_DATA_DIR: '/tmp/heddle-pooler-test',
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
  }
  const address = new URL(database.superuserUrl)
  const start = (url: URL) => startProgram({ ...env, DATABASE_URL: url.href }, ['--role', 'worker']).ended
  address.password = 'not-this-one'
  const wrong = await start(address)
  expect(wrong.code).toBe(1)
  expect(wrong.errors).toMatch(
    /^heddle cannot start: The database of DATABASE_URL cannot be used: password authentication failed for user/m,
  )
  address.port = '1'
  const absent = await start(address)
  expect(absent.code).toBe(1)
  expect(absent.errors).toContain('cannot be used: connect ')
  for (const { errors } of [wrong, absent]) {
    expect(errors).not.toContain('not-this-one')
    expect(errors, 'no stack').not.toContain('    at ')
  }
})
