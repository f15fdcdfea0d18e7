import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '#platform/db/pool'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makeIdentities } from './identity.ts'
import { makeStore } from './store.ts'

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

test('a worker that has stopped takes no new name, whoever finds that its old one is dead', async () => {
  const identities = await makeIdentities({
    db,
    store: makeStore(db),
    log: makeLogger('silent'),
    onGivenUp: () => {},
    onRenewed: () => {},
  })
  await identities.stop()
  identities.renew()
  expect(identities.renewing()).toBe(false)
  expect(await db.engine((tx) => tx.rows('select dead from workers'))).toEqual([{ dead: true }])
})
