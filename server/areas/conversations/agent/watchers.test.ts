import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/pool'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makeWatchers, TURN_HINTS, type Watchers } from './watchers.ts'

// Two processes of one service: a hint from one process wakes the waiting requests of the other, long before their next
// poll.

let database: TestDatabase
let here: Database
let there: Database
let watchers: Watchers
beforeAll(async () => {
  database = await makeTestDatabase()
  const open = () =>
    openDatabase({
      urls: database.urls,
      log: makeLogger('silent'),
      connections: { app: 2, engine: 1, operator: 1 },
    })
  here = open()
  there = open()
  watchers = makeWatchers(here)
})
afterAll(async () => {
  await watchers.stop()
  await Promise.all([here.close(), there.close()])
  await database.drop()
})

test('a hint about a conversation wakes the requests that wait for it, and no others', async () => {
  let others = 0
  const other = watchers.next('other', HOUR)
  void other.woken.then(() => (others += 1))
  const mine = watchers.next('mine', HOUR)
  // A hint that is sent before the listener is ready is lost, as hints may be. So the hint is repeated until it
  // arrives.
  const saying = setInterval(() => there.hint(TURN_HINTS, 'mine'), 20)
  await mine.woken.finally(() => clearInterval(saying))
  expect(others).toBe(0)
  other.cancel()
  await other.woken
})

test('a waiting request is also woken after its timeout', async () => {
  await watchers.next('quiet', 1).woken
})
