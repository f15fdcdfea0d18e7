import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase, type Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { TICK } from '../worker/heartbeat-store.ts'
import { groupOf } from './gate.ts'

// Measures how many rows the rules read while many executions wait for a place. The database has no statistics of
// these rows, because a connection makes its query plans once and mostly while the tables are small.

const MANY = 2_000
const [workspaceId, workflowId] = [newId(), newId()]
const place = groupOf(workflowId, 'concurrency', '')
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: pino({ level: 'silent' }) })
  await db.engine(async (tx) => {
    await rule(tx, 1)
    await tx.rows(
      `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, waiting_for, held, place, stage, gate, queue_at, max_concurrency)
       select uuidv7(), $1, $2, 'adhoc:x', 'waiting', 'user', '[{"kind": "slot"}]', false, $3, 'place', $3, now() - n * interval '1 second', 1
       from generate_series(1, $4::integer) as n`,
      [workspaceId, workflowId, place, MANY],
    )
  })
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

const rule = (tx: Tx, limit: number) =>
  tx.rows('select engine.set_flow($1, $2, $3)', [workspaceId, workflowId, { concurrency: { limit, count: 'live' } }])

const LOOKED = `select (coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0))::integer as n
  from pg_stat_xact_user_tables where relname like 'executions%'`

async function reading<T>(tx: Tx, read: () => Promise<T>): Promise<{ found: T; looked: number }> {
  const before = await tx.row<{ n: number }>(LOOKED)
  const found = await read()
  return { found, looked: (await tx.row<{ n: number }>(LOOKED)).n - before.n }
}

test.each([1, 10])('handing over %i places reads about that number of executions', async (places) => {
  const { found, looked } = await db.engine(async (tx) => {
    await rule(tx, places)
    const read = await reading(tx, () =>
      tx.row<{ busy: boolean; queued: number }>('select * from engine.flow_decide($1, $2, 500)', [
        workspaceId,
        workflowId,
      ]),
    )
    await tx.rows(
      `update executions set status = 'waiting', held = false, stage = 'place', gate = place, due_at = null where workspace_id = $1 and held`,
      [workspaceId],
    )
    return read
  })
  expect(found).toMatchObject({ busy: false, queued: places })
  expect(looked).toBeLessThan(10 * places + 50)
})

test('an arriving execution is decided without reading all executions that already wait', async () => {
  const arriving = newId()
  const { found, looked } = await db.engine(async (tx) => {
    await rule(tx, 1)
    await tx.rows(
      `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, waiting_for, held, place, stage, gate, queue_at)
       values ($1, $2, $3, 'adhoc:x', 'waiting', 'user', '[{"kind": "slot"}]', false, $4, 'arrive', '00000000-0000-0000-0000-000000000000', now() - interval '1 day')`,
      [arriving, workspaceId, workflowId, place],
    )
    return reading(tx, async () => {
      await tx.rows('select * from engine.flow_decide($1, $2, 500)', [workspaceId, workflowId])
      return tx.row(`select status, held from executions where workspace_id = $1 and execution_id = $2`, [
        workspaceId,
        arriving,
      ])
    })
  })
  // The arriving execution is the oldest, so it receives the one free place.
  expect(found).toEqual({ status: 'queued', held: true })
  expect(looked).toBeLessThan(100)
})

test('a tick of a worker reads none of the waiting executions', async () => {
  const { looked } = await db.engine((tx) => reading(tx, () => tx.rows(TICK, [newId()])))
  expect(looked).toBeLessThan(100)
})
