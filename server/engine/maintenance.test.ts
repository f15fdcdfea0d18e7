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
