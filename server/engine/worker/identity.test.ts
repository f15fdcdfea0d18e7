import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makeIdentities } from './identity.ts'
import { makeStore, type Store } from './store.ts'

let database: TestDatabase
let db: Database
let store: Store
let superuser: pg.Client
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent') })
  store = makeStore(db)
  superuser = await database.superuser()
})
beforeEach(() => superuser.query('delete from executions'))
afterAll(async () => {
  await db.close()
  await database.drop()
})

const begin = (stoodStill: boolean) => {
  const renewed = Promise.withResolvers<void>()
  const made = makeIdentities({
    db,
    store,
    log: makeLogger('silent'),
    stallWatch: { hasStalled: () => stoodStill },
    beforeHandOver: async () => {},
    onGivenUp: () => {},
    onRenewed: renewed.resolve,
  })
  return made.then((identities) => ({ identities, renewed: renewed.promise }))
}

const runningAt = (workerId: string, crashes: number) =>
  superuser.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, worker_id, crashes, started_at)
     values ($1, $2, 'adhoc:x', 'running', 'user', $3, $4, now())`,
    [newId(), newId(), workerId, crashes],
  )

const executions = async () =>
  (await superuser.query('select status, crashes, waiting_for from executions order by crashes')).rows

test('a stopped worker takes no new identity, even if its old one is found to be dead', async () => {
  const { identities } = await begin(false)
  await identities.stop()
  identities.renew()
  expect(identities.renewing()).toBe(false)
  const { workerId } = identities.current()
  expect((await superuser.query('select dead from workers where worker_id = $1', [workerId])).rows).toEqual([
    { dead: true },
  ])
})

test('a worker that could not reach the database removes the crashes that others counted, once', async () => {
  const { identities, renewed } = await begin(false)
  const { workerId } = identities.current()
  for (const crashes of [0, 1, 4]) await runningAt(workerId, crashes)
  expect(await store.declareDead(workerId, true)).toBe(3)
  expect(await executions()).toMatchObject([
    { status: 'queued', crashes: 1 },
    { status: 'queued', crashes: 2 },
    { status: 'waiting', crashes: 5, waiting_for: [{ kind: 'slot', reason: 'poison' }] },
  ])
  identities.renew()
  await renewed
  const acquitted = [0, 1, 4].map((crashes) => ({ status: 'queued', crashes, waiting_for: [] }))
  expect(await executions()).toEqual(acquitted)
  expect(await store.forgiveCrashes(workerId)).toBe(0)
  expect(await executions()).toEqual(acquitted)
  await identities.stop()
})

test('a worker that stood still cannot remove the crashes of its executions', async () => {
  const { identities, renewed } = await begin(true)
  await runningAt(identities.current().workerId, 0)
  await store.declareDead(identities.current().workerId, true)
  identities.renew()
  await renewed
  expect(await executions()).toMatchObject([{ status: 'queued', crashes: 1 }])
  await identities.stop()
})

test('executions that ended or progressed after the takeover keep their own crash count', async () => {
  const { identities, renewed } = await begin(false)
  const { workerId } = identities.current()
  await runningAt(workerId, 0)
  await runningAt(workerId, 1)
  await store.declareDead(workerId, true)
  await superuser.query(`update executions set crashes = 0 where crashes = 1`)
  await superuser.query(`update executions set status = 'failed' where crashes = 2`)
  identities.renew()
  await renewed
  expect(await executions()).toMatchObject([
    { status: 'queued', crashes: 0 },
    { status: 'failed', crashes: 2 },
  ])
  await identities.stop()
})
