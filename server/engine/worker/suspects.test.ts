import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { ROOM_FOR_SUSPECTS, suspicion } from './suspects.ts'

let database: TestDatabase
let superuser: pg.Client
const workerId = newId()
const workspaceId = newId()

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  await superuser.query(`insert into workers (worker_id, host, pid) values ($1, 'test', 0)`, [workerId])
})
beforeEach(() => superuser.query('delete from executions'))
afterAll(() => database?.drop())

/** Queues executions. Those with the most crashes are due first. */
const queue = (crashes: number, count: number) =>
  superuser.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, crashes, due_at)
     select gen_random_uuid(), $1, 'adhoc:x', 'queued', 'user', $2::integer, now() - interval '1 second' * $2
     from generate_series(1, $3)`,
    [workspaceId, crashes, count],
  )

/** Claims executions, and returns how many were claimed for each number of crashes. */
const claim = async (room: number, perWorkspace = 100): Promise<Record<number, number>> => {
  const { rows } = await superuser.query<{ claimed: { crashes: number } }>(
    'select claimed from engine.claim_more($1, $2, 100, $3, 1000, $4)',
    [workerId, '00000000-0000-0000-0000-000000000000', perWorkspace, room],
  )
  const counts: Record<number, number> = {}
  for (const { claimed } of rows) counts[claimed.crashes] = (counts[claimed.crashes] ?? 0) + 1
  return counts
}

test('the worker and the database compute the same suspicion', async () => {
  const crashes = [0, 1, 2, 3, 4, 5]
  expect(crashes.map(suspicion)).toEqual([0, 0, 1, 4, 16, 16])
  const { rows } = await superuser.query('select engine.suspicion(n) as n from unnest($1::integer[]) as n', [crashes])
  expect(rows.map(({ n }) => n)).toEqual(crashes.map(suspicion))
})

test.each([
  ['no suspects while there is no room for them, and all other executions', [20, 5, 5], 0, { 1: 20 }],
  ['sixteen executions with two crashes at the same time', [0, 20, 0, 0], ROOM_FOR_SUSPECTS, { 2: 16 }],
  ['four executions with three crashes', [0, 0, 20, 0], ROOM_FOR_SUSPECTS, { 3: 4 }],
  [
    'one execution that the next crash would park, and no other suspect',
    [3, 20, 20, 20],
    ROOM_FOR_SUSPECTS,
    { 1: 3, 4: 1 },
  ],
  [
    'no execution that the next crash would park while another suspect runs',
    [3, 20, 0, 20],
    ROOM_FOR_SUSPECTS - 1,
    { 1: 3, 2: 15 },
  ],
])('from a backlog this is claimed: %s', async (_what, backlog, room, expected) => {
  for (const [index, count] of backlog.entries()) await queue(index + 1, count)
  expect(await claim(room)).toEqual(expected)
})

test('suspects that do not fit do not block other executions', async () => {
  await queue(4, 50)
  await queue(0, 3)
  expect(await claim(ROOM_FOR_SUSPECTS - 1, 10)).toEqual({ 0: 3 })
})
