import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DAY } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/pool'
import { FIRST_ID, LAST_ID, newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { until } from '#test/harness/until'
import { commitWith } from './journal/batch.ts'
import { partitionOf } from './outputs.ts'
import { chain, startTestEngine } from './testing.ts'
import { forgetWeeks, listWeeks } from './weeks.ts'

const WEEK = 7 * DAY
const RETENTION = 400

let database: TestDatabase
let db: Database
let owner: pg.Client
let removed: string[]

const blobs = {
  put: async () => {},
  putStream: async () => {},
  get: async () => undefined,
  stream: async () => undefined,
  remove: async () => {},
  removeUnder: async (prefix: string) => void removed.push(prefix),
}
const forget = () => forgetWeeks({ db, blobs, retentionDays: RETENTION })

beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: pino({ level: 'fatal' }) })
  owner = await database.superuser()
  // The state after more than a year.
  for (let week = 1; week <= 60; week += 1)
    await owner.query(
      `select engine.ensure_week(date_trunc('week', now() at time zone 'utc') at time zone 'utc' - $1 * interval '7 days')`,
      [week],
    )
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})
beforeEach(() => {
  removed = []
})

const idAt = (ms: number): string => {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`
}

type Made = { workspaceId: string; executionId: string; week: string }

/** Adds an execution with its journal, a message, an item of a map, a question and a gate. */
async function add(ageDays: number, status: string, endedDays = ageDays): Promise<Made> {
  const [workspaceId, executionId] = [newId(), idAt(Date.now() - ageDays * DAY)]
  await owner.query(`select engine.ensure_week(to_timestamp($1, 'YYYYMMDD')::timestamp at time zone 'utc')`, [
    partitionOf(executionId),
  ])
  await owner.query(
    `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, inbox, seen, waiting_for, finished_at)
     values ($1, $2, 'adhoc:x', $3, 'user', 1, 1, case when $3 = 'waiting' then '[{"kind": "timer"}]'::jsonb else '[]' end,
       case when $3 = 'succeeded' then now() - $4 * interval '1 day' end)`,
    [executionId, workspaceId, status, endedDays],
  )
  await owner.query(
    `insert into events select $1, n, $2, now(), 'execution.started', '{}' from generate_series(1, 3) as n`,
    [executionId, workspaceId],
  )
  await owner.query(`insert into inbox (workspace_id, execution_id, n, key, payload) values ($1, $2, 1, 'k', '{}')`, [
    workspaceId,
    executionId,
  ])
  await owner.query(
    `insert into map_items (workspace_id, execution_id, path, index, status) values ($1, $2, 'm', 0, 'succeeded')`,
    [workspaceId, executionId],
  )
  // The workspace itself is not needed here.
  await owner.query(`set session_replication_role = 'replica'`)
  await owner.query(
    `insert into questions (workspace_id, clarification_id, execution_id, node_path, node_id, question, schema)
     values ($1, $2, $3, 'n', 'n', 'Which?', '{}')`,
    [workspaceId, newId(), executionId],
  )
  await owner.query(
    `insert into approval_requests (workspace_id, request_id, execution_id, node_path, node_id, title, payload, payload_sha256, policy)
     values ($1, $2, $3, 'n', 'n', 'Go?', '{}', '', '{}')`,
    [workspaceId, newId(), executionId],
  )
  await owner.query(`set session_replication_role = 'origin'`)
  return { workspaceId, executionId, week: partitionOf(executionId) }
}

const rowsOf = async ({ executionId }: Made): Promise<number[]> => {
  const counts: number[] = []
  for (const table of ['executions', 'events', 'inbox', 'map_items', 'questions', 'approval_requests'])
    counts.push((await owner.query(`select from ${table} where execution_id = $1`, [executionId])).rowCount ?? 0)
  return counts
}
const ALL = [1, 3, 1, 1, 1, 1]
const NONE = [0, 0, 0, 0, 0, 0]

const WAITING = `select from pg_locks where mode = 'AccessExclusiveLock' and not granted
  and database = (select oid from pg_database where datname = current_database())`
const untilItWaits = () => until(async () => (await owner.query(WAITING)).rowCount! > 0, 'the drop to wait')

const tablesNamed = async (name: string): Promise<number> =>
  (await owner.query('select from pg_class where relname = $1', [name])).rowCount ?? 0

/** Returns the partitions of executions that a statement reads, according to the plan of an engine connection. */
async function partitionsIn(statement: string, values: string): Promise<string[]> {
  await owner.query('begin')
  try {
    await owner.query('set local plan_cache_mode = force_generic_plan')
    await owner.query('set local enable_seqscan = off')
    await owner.query(`prepare look ${statement}`)
    const { rows } = await owner.query<{ 'QUERY PLAN': string }>(`explain (analyze, costs off) execute look ${values}`)
    await owner.query('deallocate look')
    const plan = rows.map((row) => row['QUERY PLAN']).filter((line) => !line.includes('never executed'))
    return [...new Set(plan.flatMap((line) => line.match(/\bon (executions_(?:\d{8}|default|before))\b/)?.[1] ?? []))]
  } finally {
    await owner.query('rollback')
  }
}

describe('with sixty weeks', () => {
  test('a query with an execution id reads only the partition of its week', async () => {
    const { workspaceId, executionId, week } = await add(100, 'succeeded')
    const values = `('${workspaceId}', '${executionId}')`
    const where = 'where workspace_id = $1 and execution_id = $2'
    const partition = [`executions_${week}`]
    expect(await partitionsIn(`(uuid, uuid) as select status from executions ${where}`, values)).toEqual(partition)
    expect(
      await partitionsIn(`(uuid, uuid) as select status from executions ${where} for no key update`, values),
    ).toEqual(partition)
    const found = await owner.query(
      `explain (costs off) select * from events where execution_id = '${executionId}' and seq > 1 order by seq`,
    )
    expect(JSON.stringify(found.rows)).toContain(`on events_${week}`)
  })

  test('weeks in which every execution has ended are sealed, and the search for live executions reads none of them', async () => {
    await add(150, 'succeeded')
    const live = await add(200, 'waiting')
    await forget()
    for (const status of ['queued', 'running', 'waiting']) {
      const opened = await partitionsIn(`as select from executions where status = '${status}'`, '')
      expect(opened).toContain(`executions_${live.week}`)
      // The week of the live execution, three recent weeks that are not sealed yet, this week, future weeks, and the
      // default partition.
      expect(opened.length).toBeLessThan(12)
    }
    expect(
      (await partitionsIn('as select from executions where tell_end and finished_at is not null', '')).length,
    ).toBeLessThan(12)

    // After the execution ended, its week is sealed as well.
    await owner.query(
      `update executions set status = 'cancelled', waiting_for = '[]', finished_at = now() where execution_id = $1`,
      [live.executionId],
    )
    await forget()
    expect(await partitionsIn(`as select from executions where status = 'waiting'`, '')).not.toContain(
      `executions_${live.week}`,
    )
  })

  test('the journal finds the execution that it updates by its key, not among all running ones, and reads no sealed week', async () => {
    const { week, executionId } = await add(0, 'waiting')
    await forget()
    const client = await db.enginePool.connect()
    try {
      const { text } = commitWith({ moves: true, items: false, leaves: false, starts: false })
      await client.query(`prepare commit_of_batch as ${text}`)
      const readsBetween = async (first: string, last: string): Promise<string[]> => {
        const values = `'${newId()}', '{}', '{}', '{}', '{}', '{}', '{}', 0, '[]', '${first}', '${last}'`
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(
          `explain (costs off) execute commit_of_batch (${values})`,
        )
        return rows
          .map((row) => row['QUERY PLAN'])
          .filter((line) => / on executions_\w+ e_/.test(line) && /Scan/.test(line))
      }
      const reads = await readsBetween(FIRST_ID, LAST_ID)
      expect(reads.some((line) => line.includes(`using executions_${week}_pkey`))).toBe(true)
      for (const line of reads) expect(line).toContain('_pkey')
      // This week, future weeks, three recent weeks that are not sealed yet, and the default partition.
      expect(reads.length).toBeLessThan(12)
      // Executions of one week: no other week is opened.
      expect(await readsBetween(executionId, executionId)).toEqual([
        expect.stringContaining(`using executions_${week}_pkey`),
      ])
      await client.query('deallocate commit_of_batch')
    } finally {
      client.release()
    }
  })

  test('old weeks are dropped with everything that belongs to them; executions that are kept are moved and stay complete', async () => {
    const old = RETENTION + 8
    const gone = await add(old, 'succeeded')
    const [waiting, lately] = [await add(old, 'waiting'), await add(old, 'succeeded', 5)]
    expect(partitionOf(waiting.executionId)).toBe(gone.week)
    expect(await forget()).toMatchObject({ executions: 1 })
    expect(await rowsOf(gone)).toEqual(NONE)
    expect([await rowsOf(waiting), await rowsOf(lately)]).toEqual([ALL, ALL])
    expect([await tablesNamed(`executions_${gone.week}`), await tablesNamed(`events_${gone.week}`)]).toEqual([0, 0])
    expect(removed).not.toContain(`runs/${gone.week}/`)
    // The kept execution can still receive a message, and end.
    const signal = await owner.query(`select engine.signal($1, $2, 'vote', '{}') as outcome`, [
      waiting.workspaceId,
      waiting.executionId,
    ])
    expect(signal.rows).toEqual([{ outcome: 'accepted' }])

    await owner.query(
      `update executions set status = 'succeeded', due_at = null, finished_at = now() - interval '401 days' where execution_id = any ($1)`,
      [[waiting.executionId, lately.executionId]],
    )
    expect(await forget()).toMatchObject({ executions: 2, droppedWeeks: 1 })
    expect([await rowsOf(waiting), await rowsOf(lately)]).toEqual([NONE, NONE])
    expect(removed.at(-1)).toBe(`runs/${gone.week}/`)
  })

  test('a week with many kept executions loses the others in portions, and is dropped later', async () => {
    const old = RETENTION + 15
    const gone = await add(old, 'succeeded')
    const kept: Made[] = []
    for (let n = 0; n < 201; n += 1) kept.push(await add(old, 'waiting'))
    expect(await forget()).toMatchObject({ executions: 1, droppedWeeks: 0 })
    expect([await rowsOf(gone), await rowsOf(kept[0]!)]).toEqual([NONE, ALL])
    expect(await tablesNamed(`executions_${gone.week}`)).toBe(1)
    await owner.query(`update executions set status = 'cancelled', waiting_for = '[]', finished_at = now() - interval '401 days'
      where definition_ref = 'adhoc:x' and status = 'waiting'`)
    await forget()
    expect(await tablesNamed(`executions_${gone.week}`)).toBe(0)
  })

  test('a drop does not block other statements while a reader holds the table: it gives up, loses nothing, and is done later', async () => {
    const old = RETENTION + 22
    const gone = await add(old, 'succeeded')
    const reader = await database.superuser()
    await reader.query('begin')
    await reader.query('select count(*) from executions')
    const forgetting = forget()
    // Other statements are served all the time, because the drop waits for the table for at most a tenth of a second.
    await untilItWaits()
    expect((await owner.query('select from executions where execution_id = $1', [gone.executionId])).rowCount).toBe(1)
    await reader.query('commit')
    await forgetting
    await forget()
    expect(await rowsOf(gone)).toEqual(NONE)
  })

  test('an execution that is started in an old week while the week is being dropped is kept', async () => {
    const gone = await add(RETENTION + 36, 'succeeded')
    // An id of the same week.
    const executionId = gone.executionId.slice(0, 13) + newId().slice(13)
    const starting = await database.superuser()
    await starting.query('begin')
    await starting.query(
      `insert into executions (execution_id, workspace_id, definition_ref, status, trigger_kind, waiting_for)
       values ($1, $2, 'adhoc:x', 'waiting', 'job', '[{"kind": "timer"}]')`,
      [executionId, newId()],
    )
    const forgetting = forget()
    await untilItWaits()
    await starting.query('commit')
    await forgetting
    await forget()
    expect((await owner.query('select from executions where execution_id = $1', [executionId])).rowCount).toBe(1)
    expect(await rowsOf(gone)).toEqual(NONE)
  })

  test('a drop that was interrupted before the tables were removed is finished by the next run', async () => {
    const old = RETENTION + 29
    const gone = await add(old, 'succeeded')
    const [{ start_at }] = (
      await owner.query(`select to_timestamp($1, 'YYYYMMDD')::timestamp at time zone 'utc' as start_at`, [gone.week])
    ).rows
    await owner.query('select engine.detach_week($1, $2, 200)', [start_at, RETENTION])
    expect(await tablesNamed(`executions_${gone.week}`)).toBe(1)
    expect(await forget()).toMatchObject({ executions: 1 })
    expect(await tablesNamed(`executions_${gone.week}`)).toBe(0)
    expect(removed).toContain(`runs/${gone.week}/`)
  })

  test.each(['all', 'api'] as const)(
    'an execution with an id of a sealed week opens the week again, if started by a process with the role %s',
    async (role) => {
      const { week } = await add(role === 'all' ? 250 : 260, 'succeeded')
      await forget()
      const isSealed = async () =>
        (
          await owner.query(`select from pg_constraint where conrelid = $1::regclass and conname = 'all_ended'`, [
            `executions_${week}`,
          ])
        ).rowCount === 1
      expect(await isSealed()).toBe(true)
      const starter = await startTestEngine(database.urls, { engine: { role } })
      const worker =
        role === 'all' ? starter : await startTestEngine(database.urls, { workspaceId: starter.workspaceId })
      const ref = worker.define(chain(2))
      if (worker !== starter) starter.define(chain(2))
      try {
        const executionId = idAt(Date.now() - (role === 'all' ? 250 : 260) * DAY)
        await starter.run(ref, { value: 7 }, { executionId })
        expect(await worker.engine.waitFor(starter.workspaceId, executionId, 60_000)).toMatchObject({
          status: 'succeeded',
        })
        expect(await isSealed()).toBe(false)
        await forget()
        expect(await isSealed()).toBe(true)
      } finally {
        await starter.stop()
        if (worker !== starter) await worker.stop()
      }
    },
  )

  test.each(['all', 'api'] as const)(
    'while a sealed week cannot be opened, other executions start, with the role %s',
    async (role) => {
      const age = role === 'all' ? 270 : 280
      const { week } = await add(age, 'succeeded')
      await forget()
      const starter = await startTestEngine(database.urls, { engine: { role } })
      const ref = starter.define(chain(2))
      const reader = await database.superuser()
      await reader.query('begin')
      await reader.query(`lock table executions_${week} in access share mode`)
      try {
        const executionId = idAt(Date.now() - age * DAY)
        const late = starter.run(ref, { value: 7 }, { executionId }).catch(() => undefined)
        await Promise.all(Array.from({ length: 5 }, () => starter.run(ref, { value: 7 })))
        await reader.query('rollback')
        await late
        expect(await starter.run(ref, { value: 7 }, { executionId })).toBe(executionId)
      } finally {
        await reader.query('rollback')
        await starter.stop()
      }
    },
  )

  test('there are partitions for future weeks', async () => {
    const ages = (await listWeeks(db)).map(({ age }) => age)
    expect(ages.filter((age) => age < 0)).toHaveLength(4)
    expect(ages.filter((age) => age >= 0 && age < WEEK)).toHaveLength(1)
  })
})
