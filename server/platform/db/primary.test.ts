import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { canonicalAddress } from './address.ts'
import { type Database, openDatabase } from './pool.ts'
import { warnOfReplication } from './replication.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

// Two ways to one database stand for a primary and its standby: which of them takes writes is what the test says.

let database: TestDatabase
let one: NetworkProxy
let other: NetworkProxy
let db: Database
const hosts = (url: string): string => {
  const { username, password, pathname } = new URL(url)
  return canonicalAddress(
    `postgres://${username}:${password}@127.0.0.1:${one.port},127.0.0.1:${other.port}${pathname}`,
  )!
}
beforeEach(async () => {
  database = await makeTestDatabase()
  const target = targetOf(database.superuserUrl)
  one = await startProxy(target)
  other = await startProxy(target)
  const { owner, app, engine, operator } = database.urls
  const urls = { owner: hosts(owner), app: hosts(app), engine: hosts(engine), operator: hosts(operator) }
  db = openDatabase({ urls, log: makeLogger('silent') })
})
afterEach(async () => {
  await db.close()
  await one.stop()
  await other.stop()
  await database.drop()
})

const write = (): Promise<unknown> =>
  db.engine((tx) => tx.rows('update workers set dead = dead where false returning worker_id'))

test('whichever host takes writes is used, and followed when it changes', async () => {
  other.refuse(true)
  await write()
  expect([one.connections() > 0, other.connections()]).toEqual([true, 0])
  one.refuse(true)
  one.cut()
  other.refuse(false)
  // The first to try finds the old one gone; nobody tells it that there is another.
  await expect.poll(() => write().then(() => 'written', isDatabaseUnavailable)).toBe('written')
  expect(other.connections()).toBeGreaterThan(0)
})

test('while none takes writes a connection waits for one that does', async () => {
  const superuser = await database.superuser()
  const readOnly = (on: boolean) =>
    superuser.query(`alter database ${database.name} set default_transaction_read_only = ${on ? 'on' : 'off'}`)
  await readOnly(true)
  const waiting = write()
  waiting.catch(() => {})
  await expect.poll(() => one.connections() + other.connections()).toBeGreaterThan(0)
  await superuser.query('set default_transaction_read_only = off')
  await readOnly(false)
  await waiting
})

test('a primary that stays read only is unavailable, and no fault of whoever writes', async () => {
  const superuser = await database.superuser()
  await superuser.query(`alter database ${database.name} set default_transaction_read_only = on`)
  const error = await write().catch((reason: unknown) => reason)
  expect(error).toSatisfy(isDatabaseUnavailable)
})

test('several hosts without a synchronous standby are warned of', async () => {
  const said: string[] = []
  const log = pino(
    { level: 'warn' },
    new Writable({
      write: (line, _encoding, done) => {
        said.push(JSON.parse(String(line)).msg)
        done()
      },
    }),
  )
  await warnOfReplication(database.urls.owner, log)
  expect(said).toEqual([])
  await warnOfReplication(hosts(database.urls.owner), log)
  expect(said).toEqual([expect.stringContaining('no standby is synchronous')])
})
