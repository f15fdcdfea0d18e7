import { type AddressInfo, createServer } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { canonicalAddress } from './address.ts'
import { ServerClient } from './client.ts'
import { type Database, openDatabase } from './pool.ts'
import { warnOfReplication } from './replication.ts'
import { DatabaseReadOnly, isDatabaseUnavailable } from './unavailable.ts'

// Two proxies to one database play a primary and its standby. The test decides which of them accepts writes.

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

test('the host that accepts writes is used, and the connection follows a change', async () => {
  other.refuse(true)
  await write()
  expect([one.connections() > 0, other.connections()]).toEqual([true, 0])
  one.refuse(true)
  one.cut()
  other.refuse(false)
  // The first attempt finds the old host gone; nothing announces the new one.
  await expect.poll(() => write().then(() => 'written', isDatabaseUnavailable)).toBe('written')
  expect(other.connections()).toBeGreaterThan(0)
})

test('a connection waits while no host accepts writes', async () => {
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

test('a primary that stays read-only counts as unavailable, not as an error of the statement', async () => {
  const superuser = await database.superuser()
  await superuser.query(`alter database ${database.name} set default_transaction_read_only = on`)
  const error = await write().catch((reason: unknown) => reason)
  expect(error).toSatisfy(isDatabaseUnavailable)
})

test('several hosts without a synchronous standby cause a warning', async () => {
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

test('a standby that reports its state in the packet that completes the sign-in is still refused', async () => {
  const message = (type: string, ...parts: (string | number)[]): Buffer => {
    const body = Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : Buffer.from([part]))),
    )
    const head = Buffer.alloc(5, type)
    head.writeUInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const signedIn = Buffer.concat([
    message('R', 0, 0, 0, 0),
    message('S', 'in_hot_standby', 'on'),
    message('Z', 'I'.charCodeAt(0)),
  ])
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.write(signedIn)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = new ServerClient({ connectionString: `postgres://x@127.0.0.1:${port}/x` })
  await expect(client.connect()).rejects.toBeInstanceOf(DatabaseReadOnly)
  await new Promise((resolve) => server.close(resolve))
})
