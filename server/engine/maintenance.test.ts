import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { makeMaintenance } from './maintenance.ts'
import { partitionOf } from './outputs.ts'

let database: TestDatabase
let db: Database
let owner: pg.Client
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: pino({ level: 'fatal' }) })
  owner = await database.superuser()
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

/** Returns a UUIDv7 of another time. `newId` only returns increasing ids. */
const idAt = (ms: number): string => {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`
}

const add = async (executionId: string, status: string, endedDays = 60): Promise<void> => {
  const workspaceId = newId()
  await owner.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for, snapshot, finished_at)
     values ($1, $2, 'adhoc:x', $3, 'user', case when $3 = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end, '{}',
       case when $3 = 'succeeded' then now() - $4 * interval '1 day' end)`,
    [executionId, workspaceId, status, endedDays],
  )
  await owner.query(`insert into events values ($1, 1, $2, now(), 'execution.started', '{}')`, [
    executionId,
    workspaceId,
  ])
}

const count = async (table: string, id: string): Promise<number> =>
  (await owner.query(`select from ${table} where execution_id = $1`, [id])).rowCount ?? 0

test('an old week is deleted, except executions that have not ended', async () => {
  const old = Date.now() - 60 * DAY
  const monday = partitionOf(idAt(old))
  await owner.query(`select engine.ensure_week(to_timestamp($1, 'YYYYMMDD')::timestamp at time zone 'utc')`, [monday])
  const [ended, live, recent] = [idAt(old), idAt(old + 1), newId()] as const
  await add(ended, 'succeeded')
  await add(live, 'waiting')
  await add(recent, 'succeeded')
  expect((await owner.query(`select from events_${monday}`)).rowCount).toBe(2)

  const removed: string[] = []
  const blobs = {
    put: async () => {},
    putStream: async () => {},
    get: async () => undefined,
    stream: async () => undefined,
    remove: async () => {},
    removeUnder: async (prefix: string) => void removed.push(prefix),
  }
  const maintenance = makeMaintenance({ db, blobs, retentionDays: 30 })
  expect(await maintenance.run()).toEqual({ droppedWeeks: 0, executions: 1 })
  expect([await count('executions', ended), await count('events', ended)]).toEqual([0, 0])
  expect([await count('executions', live), await count('events', live)]).toEqual([1, 1])
  expect([await count('executions', recent), await count('events', recent)]).toEqual([1, 1])
  expect(removed).toEqual([])

  await owner.query(
    `update executions set status = 'succeeded', waiting_for = '[]', finished_at = now() - interval '31 days' where execution_id = $1`,
    [live],
  )
  expect(await maintenance.run()).toEqual({ droppedWeeks: 1, executions: 1 })
  expect(await count('events', live)).toBe(0)
  expect(removed.at(-1)).toBe(`runs/${monday}/`)
})

test('an execution is kept for the retention time after its end, however old it is, and until its end has been reported', async () => {
  const old = Date.now() - 90 * DAY
  const monday = partitionOf(idAt(old))
  await owner.query(`select engine.ensure_week(to_timestamp($1, 'YYYYMMDD')::timestamp at time zone 'utc')`, [monday])
  const [ended, lately, untold] = [idAt(old), idAt(old + 1), idAt(old + 2)] as const
  await add(ended, 'succeeded', 31)
  await add(lately, 'succeeded', 29)
  await add(untold, 'succeeded', 31)
  await owner.query('update executions set tell_end = true where execution_id = $1', [untold])
  await owner.query(
    `insert into map_items (workspace_id, execution_id, path, index, status)
     select workspace_id, execution_id, 'm', 0, 'succeeded' from executions where execution_id = any ($1)`,
    [[ended, lately, untold]],
  )
  const removed: string[] = []
  const blobs = {
    put: async () => {},
    putStream: async () => {},
    get: async () => undefined,
    stream: async () => undefined,
    remove: async () => {},
    removeUnder: async (prefix: string) => void removed.push(prefix),
  }
  const maintenance = makeMaintenance({ db, blobs, retentionDays: 30 })
  const left = async () => {
    const rows: Record<string, number[]> = {}
    for (const table of ['executions', 'events', 'map_items'])
      rows[table] = [await count(table, ended), await count(table, lately), await count(table, untold)]
    return rows
  }
  await maintenance.run()
  expect(await left()).toEqual({ executions: [0, 1, 1], events: [0, 1, 1], map_items: [0, 1, 1] })
  expect(removed).toEqual([])

  await owner.query(
    `update executions set tell_end = false, finished_at = now() - interval '31 days' where execution_id = any ($1)`,
    [[lately, untold]],
  )
  await maintenance.run()
  expect(await left()).toEqual({ executions: [0, 0, 0], events: [0, 0, 0], map_items: [0, 0, 0] })
  expect(removed.at(-1)).toBe(`runs/${monday}/`)
})

test('the remains of a deleted workspace are removed with its blobs, and an existing workspace is not changed', async () => {
  const [gone, there] = [newId(), newId()] as const
  const addIn = async (workspaceId: string, status: string): Promise<string> => {
    const executionId = newId()
    await owner.query(
      `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for)
       values ($1, $2, 'adhoc:x', $3, 'user', case when $3 = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end)`,
      [executionId, workspaceId, status],
    )
    await owner.query(`insert into events values ($1, 1, $2, now(), 'execution.started', '{}')`, [
      executionId,
      workspaceId,
    ])
    await owner.query(
      `insert into map_items (workspace_id, execution_id, path, index, status) values ($1, $2, 'm', 0, 'succeeded')`,
      [workspaceId, executionId],
    )
    return executionId
  }
  const ids = [await addIn(gone, 'succeeded'), await addIn(gone, 'waiting'), await addIn(gone, 'queued')]
  const kept = await addIn(there, 'waiting')
  await owner.query('insert into gone_workspaces (workspace_id) values ($1)', [gone])

  const removed: string[] = []
  const blobs = {
    put: async () => {},
    putStream: async () => {},
    get: async () => undefined,
    stream: async () => undefined,
    remove: async () => {},
    removeUnder: async (prefix: string) => void removed.push(prefix),
  }
  await makeMaintenance({ db, blobs, retentionDays: 30 }).run()
  for (const table of ['executions', 'events', 'map_items']) {
    for (const id of ids) expect([table, await count(table, id)]).toEqual([table, 0])
    expect([table, await count(table, kept)]).toEqual([table, 1])
  }
  expect(removed).toContain(`runs/${partitionOf(ids[0]!)}/${gone}/`)
  expect(removed.every((prefix) => prefix.endsWith(`/${gone}/`))).toBe(true)
})

test('all executions of a deleted workspace end in one statement, and running ones are told to stop once', async () => {
  const [gone, there] = [newId(), newId()] as const
  await owner.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for, snapshot, worker_id)
     select uuidv7(), w, 'adhoc:x', s, 'user', case when s = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end, '{}',
       case when s = 'running' then uuidv7() end
     from unnest($1::uuid[]) as w, unnest(array['queued', 'running', 'waiting', 'succeeded']) as s, generate_series(1, 50)`,
    [[gone, there]],
  )
  await owner.query(`create table statements (at timestamptz)`)
  await owner.query(`create function note_statement() returns trigger language plpgsql security definer as
    $$ begin insert into public.statements values (now()); return null; end $$`)
  await owner.query(
    'create trigger note_statement after update on executions for each statement execute function note_statement()',
  )
  const end = async (): Promise<[ended: number, statements: number]> => {
    await owner.query('delete from statements')
    const { rows } = await owner.query<{ ended: number }>('select engine.end_workspace($1) as ended', [gone])
    return [rows[0]!.ended, (await owner.query('select from statements')).rowCount ?? 0]
  }
  expect([await end(), await end()]).toEqual([
    [100, 1],
    [0, 1],
  ])
  await owner.query('drop trigger note_statement on executions')
  const { rows } = await owner.query(
    `select workspace_id, status, finished_at is not null as has_ended, e.inbox, count(i)::integer as messages, count(*)::integer as executions
     from executions e left join inbox i using (workspace_id, execution_id) where workspace_id = any ($1) group by 1, 2, 3, 4 order by 2, 1`,
    [[gone, there]],
  )
  const before = { has_ended: false, inbox: 0, messages: 0, executions: 50 }
  expect(rows).toEqual([
    { workspace_id: gone, status: 'cancelled', has_ended: true, inbox: 0, messages: 0, executions: 100 },
    { workspace_id: there, status: 'queued', ...before },
    { workspace_id: gone, status: 'running', ...before, inbox: 1, messages: 50 },
    { workspace_id: there, status: 'running', ...before },
    { workspace_id: gone, status: 'succeeded', ...before },
    { workspace_id: there, status: 'succeeded', ...before },
    { workspace_id: there, status: 'waiting', ...before },
  ])
  await owner.query('delete from executions where workspace_id = any ($1)', [[gone, there]])
})

test('marks of a rate and of a dedupe are deleted after their window', async () => {
  const [workspaceId, mark] = [newId(), newId()]
  await owner.query(
    `insert into flow_marks (workspace_id, mark, n, at, until, execution_id)
     values ($1, $2, 1, now(), now() - interval '1 second', $2), ($1, $2, 2, now(), now() + interval '1 hour', $2)`,
    [workspaceId, mark],
  )
  const blobs = {
    put: async () => {},
    putStream: async () => {},
    get: async () => undefined,
    stream: async () => undefined,
    remove: async () => {},
    removeUnder: async () => {},
  }
  await makeMaintenance({ db, blobs, retentionDays: 30 }).run()
  const { rows } = await owner.query('select n from flow_marks where mark = $1', [mark])
  expect(rows).toEqual([{ n: 2 }])
})

test('older executions of a workflow with a retention of a week are deleted with journal and blobs, and no others', async () => {
  const [workspaceId, workflowId, other] = [newId(), newId(), newId()]
  const put = async (of: string, ageDays: number, status: string, endedDays = ageDays): Promise<string> => {
    const id = idAt(Date.now() - ageDays * DAY)
    const ended = status === 'succeeded'
    await owner.query(
      `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, waiting_for, finished_at)
       values ($1, $2, $3, 'adhoc:x', $4, 'user', case when $4 = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end,
         case when $5 then now() - $6 * interval '1 day' end)`,
      [id, workspaceId, of, status, ended, endedDays],
    )
    await owner.query(
      `insert into events values ($1, 1, $2, now(), 'execution.started', '{}'), ($1, 2, $2, now(), 'node.succeeded', '{"blob": {"key": "x"}}')`,
      [id, workspaceId],
    )
    return id
  }
  const old = await put(workflowId, 9, 'succeeded')
  // Its blob belongs to an item of a map, and an older release stored NUL in its journal.
  const ofMap = await put(workflowId, 8, 'succeeded')
  await owner.query('update events set data = $2 where execution_id = $1', [ofMap, JSON.stringify({ output: '\0' })])
  await owner.query(
    `insert into map_items (workspace_id, execution_id, path, index, status, state) values ($1, $2, 'm', 0, 'succeeded', $3)`,
    [workspaceId, ofMap, JSON.stringify({ nodes: { n: { blob: { key: 'x' } } } })],
  )
  const kept = [
    await put(workflowId, 5, 'succeeded'),
    await put(workflowId, 9, 'succeeded', 2),
    await put(workflowId, 9, 'waiting'),
    await put(other, 9, 'succeeded'),
  ]
  const removed: string[] = []
  const blobs = {
    put: async () => {},
    putStream: async () => {},
    get: async () => undefined,
    stream: async () => undefined,
    remove: async () => {},
    removeUnder: async (prefix: string) => void removed.push(prefix),
  }
  const maintenance = makeMaintenance({
    db,
    blobs,
    retentionDays: 400,
    retentions: async () => [{ workspace_id: workspaceId, workflow_id: workflowId, retention_days: 7 }],
  })
  expect(await maintenance.run()).toMatchObject({ executions: 2 })
  for (const id of [old, ofMap])
    expect([await count('executions', id), await count('events', id), await count('map_items', id)]).toEqual([0, 0, 0])
  for (const id of kept) expect([await count('executions', id), await count('events', id)]).toEqual([1, 2])
  expect(removed.filter((prefix) => prefix.includes(workspaceId))).toEqual(
    [old, ofMap].map((id) => `runs/${partitionOf(id)}/${workspaceId}/${id}/`),
  )
})
