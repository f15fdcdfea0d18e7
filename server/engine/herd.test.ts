import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HOUR } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { startTestEngine } from './testing.ts'

// Many executions whose timers are due at the same moment.

let database: TestDatabase
let superuser: pg.Client
const definition = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 0 } }], edges: [] }

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
})
beforeEach(() => superuser.query('delete from executions'))
afterAll(() => database?.drop())

const park = (workspaceId: string, count: number, due = '1 second') =>
  superuser.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for, due_at)
     select gen_random_uuid(), $1, 'adhoc:wait', 'waiting', 'user', '[{"kind": "timer"}]', now() - $3::interval
     from generate_series(1, $2)`,
    [workspaceId, count, due],
  )

const statuses = async () =>
  (await superuser.query('select status, count(*)::integer as n from executions group by 1 order by 1')).rows

test('all due executions are woken in one tick, regardless of their number', async () => {
  const workspaceId = newId()
  await park(workspaceId, 1500)
  const bench = await startTestEngine(database.urls, {
    workspaceId,
    definitions: new Map([['adhoc:wait', definition]]),
    // Only the first tick happens during the test.
    engine: { tickMs: HOUR },
  })
  await expect.poll(statuses).toEqual([{ status: 'succeeded', n: 1500 }])
  await bench.stop()
})

test('each workspace has some executions woken in turn, the earliest due first', async () => {
  const spaces = Array.from({ length: 4 }, newId).sort()
  for (const id of spaces) await park(id, 20)
  await park(spaces[3]!, 1, '1 hour')
  await park(newId(), 5, '-1 hour')
  const wake = async (after: string, limit: number, ofOne: number): Promise<string | null> =>
    (await superuser.query('select last from engine.wake_some($1, $2, $3)', [after, limit, ofOne])).rows[0].last
  const woken = async (): Promise<number[]> => {
    const { rows } = await superuser.query<{ workspace_id: string }>(
      `select workspace_id from executions where status = 'queued'`,
    )
    return spaces.map((id) => rows.filter(({ workspace_id }) => workspace_id === id).length)
  }
  // It continues after the last workspace and wraps around to the first.
  expect(await wake(spaces[1]!, 20, 10)).toBe(spaces[3])
  expect(await woken()).toEqual([0, 0, 10, 10])
  expect(await wake(spaces[3]!, 20, 10)).toBe(spaces[1])
  expect(await woken()).toEqual([10, 10, 10, 10])
  const { rows } = await superuser.query(`select from executions where due_at < now() - interval '1 minute'`)
  expect(rows).toEqual([])
  await wake(spaces[0]!, 100, 100)
  expect(await woken()).toEqual([20, 20, 20, 21])
  expect(await wake(spaces[0]!, 100, 100)).toBeNull()
})

test('a few due executions are found without reading every workspace that has a timer', async () => {
  await superuser.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for, due_at)
     select gen_random_uuid(), gen_random_uuid(), 'adhoc:wait', 'waiting', 'user', '[{"kind": "timer"}]', now() + interval '1 day'
     from generate_series(1, 300)`,
  )
  const spaces = [newId(), newId()]
  for (const id of spaces) await park(id, 2)
  await superuser.query('begin')
  await superuser.query('set local enable_seqscan = off')
  const { rows } = await superuser.query('select woken, last from engine.wake_some($1, 100, 10)', [newId()])
  const { rows: scans } = await superuser.query(
    `select sum(idx_scan)::integer as n from pg_stat_xact_user_tables where relname like 'executions%'`,
  )
  await superuser.query('commit')
  expect(rows[0].woken).toBe(4)
  expect(spaces).toContain(rows[0].last)
  // Reading each of the 300 workspaces takes more than a thousand scans.
  expect(scans[0].n).toBeLessThan(1000)
  expect(await statuses()).toEqual([
    { status: 'queued', n: 4 },
    { status: 'waiting', n: 300 },
  ])
})

test('executions that another process is waking are left to that process', async () => {
  const workspaceId = newId()
  await park(workspaceId, 3)
  const other = await database.superuser()
  await other.query('begin')
  await other.query('select from executions for update')
  const { rows } = await superuser.query('select woken, last from engine.wake_some($1, 100, 10)', [newId()])
  expect(rows).toEqual([{ woken: 0, last: null }])
  await other.query('rollback')
})
