import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { toProblem } from '../http/answer.ts'
import { makeLogger } from '../log.ts'
import { type Database, openDatabase } from './pool.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent'), lockTimeoutMs: 200 })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

test('a request that waits too long for a lock is asked to retry, and its connection is free again', async () => {
  const scope = { workspaceId: null, userId: null }
  const lock = 'select pg_advisory_xact_lock(7, 7)'
  await db.tenant(scope, async (tx) => {
    await tx.rows(lock)
    const refused = await db.tenant(scope, (other) => other.rows(lock)).catch((error: unknown) => error)
    expect(toProblem(refused)).toMatchObject({ code: 'unavailable', retryAfterS: 1 })
  })
  await db.tenant(scope, (tx) => tx.rows(lock))
})
