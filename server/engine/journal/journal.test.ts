import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { JsonObject } from '#model/definition'
import { DAY } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { partitionOf } from '../outputs.ts'
import type { Append } from './batch.ts'
import { commitOf, encode, rowsOf } from './encode.ts'
import { type EventWorkspaces, makeEventWorkspaces } from './event-workspaces.ts'
import { Fenced, Refused, Unknown, Unsent } from './failures.ts'
import { type Journal, makeJournal } from './journal.ts'
import { takeBatch } from './take-batch.ts'

let database: TestDatabase
let db: Database
let superuser: pg.Client
let workerId: string
let journal: Journal
const log = pino({ level: 'fatal' })
const workspaceId = newId()

beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log })
  superuser = await database.superuser()
})
beforeEach(async () => {
  workerId = newId()
  await superuser.query(`insert into workers (worker_id, host, pid) values ($1, 'test', 0)`, [workerId])
  journal = makeJournal({ pool: db.enginePool, workerId, log })
})
afterEach(() => journal.close())
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

const start = (more: Partial<Append> = {}): Append => ({
  workspaceId,
  executionId: newId(),
  epoch: 0,
  seq: 1,
  events: [{ type: 'execution.started', at: Date.now(), data: {} }],
  start: {
    definitionRef: 'adhoc:x',
    workflowId: null,
    versionId: null,
    input: {},
    trigger: { kind: 'user', id: null },
    startedBy: null,
    initiatedBy: [],
    depth: 0,
    tellEnd: false,
  },
  ...more,
})

const next = ({ executionId }: Append, more: Partial<Append> = {}): Append => ({
  workspaceId,
  executionId,
  epoch: 0,
  seq: 2,
  events: [{ type: 'node.started', at: Date.now(), data: { node_id: 'a' } }],
  ...more,
})

const eventsOf = async (executionId: string): Promise<number> =>
  (await superuser.query('select from journal where execution_id = $1', [executionId])).rowCount ?? 0

const rowOf = async (executionId: string) =>
  (await superuser.query('select status, epoch, worker_id from executions where execution_id = $1', [executionId]))
    .rows[0]

test('a worker that was declared dead writes nothing, and its executions are released', async () => {
  const append = start()
  expect(await journal.append(append)).toEqual({ moved: false, started: true })
  await superuser.query('select engine.bury($1)', [workerId])
  const end = { status: 'succeeded' as const, seen: 0, results: 1, finishedAt: Date.now() }
  await expect(journal.append(next(append, { rowUpdate: end }))).rejects.toBeInstanceOf(Fenced)
  await expect(journal.append(start())).rejects.toBeInstanceOf(Fenced)
  expect(await eventsOf(append.executionId)).toBe(1)
  expect(await rowOf(append.executionId)).toEqual({ status: 'queued', epoch: 1, worker_id: null })
})

test('a worker that declares another worker dead waits for the running statements of that worker', async () => {
  const append = start()
  await journal.append(append)
  const slow = await database.superuser()
  await slow.query('begin')
  const eventWorkspaces = makeEventWorkspaces()
  await eventWorkspaces.reload(db.enginePool)
  const { text, values } = commitOf(workerId, [encode(next(append))], eventWorkspaces)
  await slow.query(text, values)
  let buried = false
  const burying = superuser.query('select engine.bury($1)', [workerId]).then(() => {
    buried = true
  })
  const watcher = await database.superuser()
  await expect
    .poll(
      async () =>
        (
          await watcher.query(
            `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%engine.bury%'`,
          )
        ).rowCount,
    )
    .toBe(1)
  expect(buried).toBe(false)
  await slow.query('commit')
  await burying
  expect(await eventsOf(append.executionId)).toBe(2)
})

test('an append that the database refuses fails alone, and the others of its batch are written', async () => {
  const appends = Array.from({ length: 20 }, () => start())
  const bad = start({
    rowUpdate: { status: 'waiting', seen: 0, waitingFor: [{ kind: 'timer', since: 'half \ud800 and \0' }] },
  })
  const outcomes = await Promise.allSettled(
    [...appends.slice(0, 10), bad, ...appends.slice(10)].map((append) => journal.append(append)),
  )
  expect(outcomes[10]).toMatchObject({ status: 'rejected', reason: expect.any(Refused) })
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(20)
  for (const { executionId } of appends) expect(await eventsOf(executionId)).toBe(1)
  expect(await rowOf(bad.executionId)).toBeUndefined()
})

test('a connection that breaks during a statement leaves the outcome unknown', async () => {
  const append = start()
  await journal.append(append)
  // The row is locked, so the statement is still running when its connection breaks.
  await superuser.query('begin')
  await superuser.query('select from executions where execution_id = $1 for update', [append.executionId])
  const end = { status: 'succeeded' as const, seen: 0, results: 1, finishedAt: Date.now() }
  const appending = journal.append(next(append, { rowUpdate: end }))
  appending.catch(() => {})
  await expect
    .poll(async () => {
      const { rowCount } = await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`)
      return rowCount
    })
    .toBeGreaterThan(0)
  await expect(appending).rejects.toBeInstanceOf(Unknown)
  await superuser.query('rollback')
  await expect(journal.append(start())).rejects.toBeInstanceOf(Unknown)
})

test('an execution parks only if every message was read', async () => {
  const append = start()
  await journal.append(append)
  await superuser.query(`select engine.signal($1, $2, 'k', '{}')`, [workspaceId, append.executionId])
  const park = {
    status: 'waiting' as const,
    parking: true,
    seen: 0,
    waitingFor: [{ kind: 'timer' as const, since: '' }],
  }
  expect(await journal.append(next(append, { rowUpdate: park }))).toMatchObject({ moved: false })
  expect(await rowOf(append.executionId)).toMatchObject({ status: 'running' })
  expect(await journal.append(next(append, { seq: 3, rowUpdate: { ...park, seen: 1 } }))).toMatchObject({ moved: true })
  expect(await rowOf(append.executionId)).toMatchObject({ status: 'waiting' })
})

test('starts with the same idempotency key are sent one after the other, and only one of them starts', async () => {
  const key = { credentialHash: Buffer.alloc(32, 1), keyHash: Buffer.alloc(32, 2), bodySha256: Buffer.alloc(32, 3) }
  const starts = Array.from({ length: 20 }, () => {
    const append = start()
    return { ...append, start: { ...(append.start as NonNullable<Append['start']>), key } }
  })
  const others = Array.from({ length: 20 }, () => start())
  const accepted = await Promise.all([...starts, ...others].map((append) => journal.append(append)))
  expect(accepted.slice(0, 20).filter(({ started }) => started)).toHaveLength(1)
  expect(accepted.slice(20).every(({ started }) => started)).toBe(true)
})

test('a batch contains each idempotency key once', () => {
  const key = (n: number) => ({
    credentialHash: Buffer.alloc(32),
    keyHash: Buffer.alloc(32, n),
    bodySha256: Buffer.alloc(32),
  })
  const queued = (n: number, bytes = 0) => ({ n, bytes, start: { ...start().start, key: key(n) } as never })
  const { batch, left } = takeBatch([queued(1), queued(2), queued(1), queued(3)], (one) => one)
  expect([batch.map(({ n }) => n), left.map(({ n }) => n)]).toEqual([[1, 2, 3], [1]])
})

test('the oldest append is sent regardless of its size, and small appends do not wait for large ones', () => {
  const taken = (sizes: number[]): { batch: number[]; left: number[] } => takeBatch(sizes, (bytes) => ({ bytes }))
  expect(taken([3_000_000, 3_000_000, 4_096, 4_097])).toEqual({ batch: [3_000_000, 4_096], left: [3_000_000, 4_097] })
  expect(taken([600_000, 600_000, 400_000, 100_000, 1])).toEqual({
    batch: [600_000, 400_000, 1],
    left: [600_000, 100_000],
  })
  expect(taken([1_040_000, 8_576, 8_576])).toEqual({ batch: [1_040_000, 8_576], left: [8_576] })
  const many = taken(Array.from({ length: 300 }, (_, n) => n))
  expect([many.batch.length, many.left[0], many.left.length]).toEqual([256, 256, 44])
})

const watch = async (workspace: string): Promise<void> => {
  await superuser.query('begin')
  await superuser.query('update event_generation set generation = generation + 1')
  await superuser.query(
    'insert into event_workspaces (workspace_id, journal, generation) select $1, true, generation from event_generation',
    [workspace],
  )
  await superuser.query('commit')
}

const outboxOf = async (workspace: string): Promise<string[]> =>
  (
    await superuser.query('select type, seq from event_outbox where workspace_id = $1 order by n', [workspace])
  ).rows.map(({ type, seq }) => `${seq} ${type}`)

test('after the commit of its first destination, only the events of that workspace are in the outbox', async () => {
  const watchedSpace = newId()
  await superuser.query('alter table event_workspaces drop constraint if exists event_workspaces_workspace_id_fkey')
  const before = start({ workspaceId: watchedSpace })
  await journal.append(before)
  await watch(watchedSpace)
  const events = ['execution.waiting', 'node.succeeded', 'execution.resumed'].map((type) => ({
    type: type as Append['events'][number]['type'],
    at: Date.now(),
    data: {},
  }))
  const fresh = start({ workspaceId: watchedSpace })
  const elsewhere = start({ workspaceId: newId() })
  const accepted = await Promise.all([
    journal.append(next(before, { workspaceId: watchedSpace, events })),
    journal.append(fresh),
    journal.append(elsewhere),
  ])
  expect(accepted.map(({ started }) => started)).toEqual([false, true, true])
  expect((await outboxOf(watchedSpace)).toSorted()).toEqual([
    '1 execution.started',
    '2 execution.waiting',
    '4 execution.resumed',
  ])
  expect(await outboxOf(elsewhere.workspaceId)).toEqual([])
  expect(await eventsOf(before.executionId)).toBe(4)
})

test('a commit made with an old list writes nothing, and is made again with the new list', async () => {
  const workspace = newId()
  const append = start({ workspaceId: workspace })
  await journal.append(append)
  // The list before another process created the first destination.
  const inner = makeEventWorkspaces()
  let reloads = 0
  const eventWorkspaces: EventWorkspaces = {
    ...inner,
    reload: async (client) => {
      reloads += 1
      await inner.reload(client)
    },
  }
  await eventWorkspaces.reload(db.enginePool)
  const other = makeJournal({ pool: db.enginePool, workerId, log, watched: eventWorkspaces })
  await watch(workspace)
  await other.append(
    next(append, { workspaceId: workspace, events: [{ type: 'execution.waiting', at: Date.now(), data: {} }] }),
  )
  expect(reloads).toBe(2)
  expect(await outboxOf(workspace)).toEqual(['2 execution.waiting'])
  expect(await eventsOf(append.executionId)).toBe(2)
  await other.close()
})

test('without a connection nothing is lost: appends of running executions are written later, and a start is refused', async () => {
  const begun = start()
  await journal.append(begun)
  const other = openDatabase({ urls: database.urls, log })
  const waiting = makeJournal({ pool: other.enginePool, workerId, log })
  await superuser.query(`alter database ${database.name} connection limit 0`)
  const appending = waiting.append(next(begun))
  const refused = start()
  await expect(waiting.append(refused)).rejects.toBeInstanceOf(Unsent)
  await superuser.query(`alter database ${database.name} connection limit -1`)
  expect(await appending).toEqual({ moved: false, started: false })
  expect(await eventsOf(begun.executionId)).toBe(2)
  expect(await rowOf(refused.executionId)).toBeUndefined()
  expect(await waiting.append(refused)).toMatchObject({ started: true })
  await waiting.close()
  await other.close()
})

test('a journal that is closed without a connection rejects the appends that it could not send', async () => {
  const begun = start()
  await journal.append(begun)
  const other = openDatabase({ urls: database.urls, log })
  const waiting = makeJournal({ pool: other.enginePool, workerId, log })
  await superuser.query(`alter database ${database.name} connection limit 0`)
  const appending = waiting.append(next(begun))
  appending.catch(() => {})
  await expect(waiting.append(start())).rejects.toBeInstanceOf(Unsent)
  await waiting.close()
  await expect(appending).rejects.toBeInstanceOf(Unknown)
  await superuser.query(`alter database ${database.name} connection limit -1`)
  await other.close()
})

const eventsOfLength = (lengths: number[]): Append['events'] =>
  lengths.map((length, n) => ({
    type: n === 0 ? 'node.succeeded' : 'node.started',
    at: 1_800_000_000_000 + n * 3,
    data: { node_id: `n${n}`, text: 'x'.repeat(length) },
  }))

const rowsOfJournal = async (executionId: string): Promise<{ seq: number; type: string }[]> =>
  (await superuser.query('select seq, type from events where execution_id = $1 order by seq', [executionId])).rows

test.each([
  ['one event', [1], [2]],
  ['two small events', [1, 1], [2]],
  ['a large event between small events', [1, 1, 2000, 1, 1], [2, 4, 5]],
  ['a large event first', [2000, 1], [2, 3]],
  ['more than one row can contain', Array.from({ length: 40 }, () => 1), [2, 18, 34]],
])('small events of one append are packed into rows: %s', async (_what, lengths, rows) => {
  const append = start()
  await journal.append(append)
  const events = eventsOfLength(lengths)
  await journal.append(next(append, { events }))
  const [first, ...rest] = await rowsOfJournal(append.executionId)
  expect(first?.seq).toBe(1)
  expect(rest.map(({ seq }) => seq)).toEqual(rows)
  const { rows: read } = await superuser.query(
    'select seq, type, (extract(epoch from at) * 1000)::float8 as at, data from journal where execution_id = $1 and seq > 1 order by seq',
    [append.executionId],
  )
  expect(read).toEqual(events.map((event, n) => ({ seq: n + 2, ...event })))
})

type EventType = Append['events'][number]['type']
const SHORT_EVENTS: [type: EventType, data: JsonObject][] = [
  ['execution.started', { trigger: { kind: 'user', id: null } }],
  ['node.started', { node_id: 'n1', attempt: 1 }],
  ['node.succeeded', { node_id: 'n1', attempt: 1, output: { list: [1, 'two', null] } }],
  ['node.succeeded', { node_id: 'n2', attempt: 1, output: null }],
  ['node.succeeded', { node_id: 'n3', attempt: 1, output: '"quoted" \\ %s {1,2} \u0001 ü' }],
  ['node.skipped', { node_id: 'n4' }],
  ['execution.succeeded', { results: [] }],
]
const LONG_EVENTS: [type: EventType, data: JsonObject][] = [
  ['execution.started', { trigger: { kind: 'user', id: null }, retry_of: 'x' }],
  ['node.started', { node_id: 'n1', attempt: 1, child_execution_id: 'x' }],
  ['node.started', { attempt: 1, node_id: 'n1' }],
  ['node.started', { node_id: 'n1', attempt: 2 }],
  ['node.succeeded', { node_id: 'n1', attempt: 1 }],
  ['node.succeeded', { node_id: 'n1', attempt: 2, output: 1 }],
  ['node.succeeded', { node_id: 'n1', attempt: 1, output: 1, usage: { tokens: 2 } }],
  ['node.skipped', { node_id: 'n1', reason: 'x' }],
  ['node.failed', { node_id: 'n1', attempt: 1 }],
]

test('packed events are read as they were written, and the most frequent shapes are written in a short form', async () => {
  const append = start()
  await journal.append(append)
  const events = [...SHORT_EVENTS, ...LONG_EVENTS].map(([type, data], n) => ({ type, at: 1_800_000_000_000 + n, data }))
  await journal.append(next(append, { events }))
  const { rows } = await superuser.query(
    'select type, (extract(epoch from at) * 1000)::float8 as at, data from journal where execution_id = $1 and seq > 1 order by seq',
    [append.executionId],
  )
  expect(rows).toEqual(events)
  const { rows: stored } = await superuser.query(
    'select type, data from events where execution_id = $1 and seq > 1 order by seq',
    [append.executionId],
  )
  expect(stored.map(({ type }) => type)).toEqual(['p'])
  expect(stored[0].data.map(([type]: [string]) => type)).toEqual([
    ...['t', 'b', 's', 's', 's', 'k', 'e'],
    ...LONG_EVENTS.map(([type]) => type),
  ])
})

test('rows that were packed before there was a short form are read', async () => {
  const append = start()
  await journal.append(append)
  const data = [
    ['node.succeeded', 0, { node_id: 'n1', attempt: 1, output: 7 }],
    ['node.started', 5, { node_id: 'n2', attempt: 1 }],
  ]
  await superuser.query(
    `insert into events (execution_id, seq, workspace_id, at, type, data) values ($1, 2, $2, to_timestamp(1800000000), 'packed', $3)`,
    [append.executionId, workspaceId, JSON.stringify(data)],
  )
  const { rows } = await superuser.query(
    'select seq, type, (extract(epoch from at) * 1000)::float8 as at, data from journal where execution_id = $1 and seq > 1 order by seq',
    [append.executionId],
  )
  expect(rows).toEqual(
    data.map(([type, ms, event], n) => ({ seq: n + 2, type, at: 1_800_000_000_000 + (ms as number), data: event })),
  )
})

test.each([
  ['NUL', 'a\u0000b'],
  ['half a surrogate pair', 'a\ud800b'],
])('an append with %s in an event is refused, and such a row of an older release is read', async (_what, output) => {
  const append = start()
  await journal.append(append)
  const data = { node_id: 'n1', attempt: 1, output }
  const event = { type: 'node.succeeded' as const, at: 1_800_000_000_000, data }
  await expect(journal.append(next(append, { events: [event] }))).rejects.toBeInstanceOf(Refused)
  await superuser.query(
    `insert into events (execution_id, seq, workspace_id, at, type, data) values ($1, 2, $2, to_timestamp(1800000000), 'p', $3)`,
    [append.executionId, workspaceId, JSON.stringify([['s', 0, 'n1', output]])],
  )
  const { rows } = await superuser.query('select type, data from journal where execution_id = $1 and seq > 1', [
    append.executionId,
  ])
  expect(rows).toEqual([{ type: 'node.succeeded', data }])
})

test('an event that has a short form and a row of its own is stored with its type and data', async () => {
  const append = start()
  await journal.append(append)
  const data = { node_id: 'n1', attempt: 1, output: 'x' }
  await journal.append(next(append, { events: [{ type: 'node.succeeded', at: 1_800_000_000_000, data }] }))
  const { rows } = await superuser.query('select type, data from events where execution_id = $1 and seq = 2', [
    append.executionId,
  ])
  expect(rows).toEqual([{ type: 'node.succeeded', data }])
})

test('a page of a journal starts after any event number, also inside a row, and has at most the requested size', async () => {
  const append = start()
  await journal.append(append)
  await journal.append(next(append, { events: eventsOfLength(Array.from({ length: 40 }, () => 1)) }))
  const page = async (after: number, most: number): Promise<number[]> => {
    const { rows } = await superuser.query('select seq from journal_page($1, $2, $3, $4)', [
      workspaceId,
      append.executionId,
      after,
      most,
    ])
    return rows.map(({ seq }) => seq)
  }
  const all = Array.from({ length: 41 }, (_, n) => n + 1)
  for (const after of all)
    for (const most of [1, 2, 17, 50]) expect(await page(after, most)).toEqual(all.slice(after, after + most))
})

test('an event with a blob has its own row, and so has each event of a workspace with destinations', async () => {
  const append = start()
  await journal.append(append)
  const [one, two, three] = eventsOfLength([1, 1, 1]) as [Append['events'][0], Append['events'][0], Append['events'][0]]
  const withBlob = { ...two, data: { ...two.data, blob: { key: 'x', bytes: 1 } } }
  await journal.append(next(append, { events: [one, withBlob, three] }))
  expect((await rowsOfJournal(append.executionId)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
  const encoded = encode(next(append, { events: [one, two, three] }))
  const seqsOf = (leaves: boolean) => [...rowsOf(encoded, leaves)].map(({ seq }) => seq)
  expect(seqsOf(false)).toEqual([2])
  expect(seqsOf(true)).toEqual([2, 3, 4])
})

test('a statement has only the parts that its batch needs, and all of them together are written', async () => {
  const end = { status: 'succeeded' as const, seen: 0, results: 1, finishedAt: Date.now() }
  const item = { path: 'm', index: 0, status: 'running' as const }
  const [one, two] = [start(), start()]
  const nameOf = (...batch: Append[]) => commitOf(workerId, batch.map(encode), makeEventWorkspaces()).name
  expect(nameOf(next(one))).toBe('engine-commit')
  expect(nameOf(one)).toBe('engine-commit-starts')
  expect(nameOf(next(one, { rowUpdate: end }))).toBe('engine-commit-moves')
  expect(nameOf(next(one, { items: [item] }))).toBe('engine-commit-items')
  await journal.append(one)
  const both = [next(one, { rowUpdate: end, items: [item] }), two]
  expect(nameOf(...both)).toBe('engine-commit-moves-items-starts')
  expect(await Promise.all(both.map((append) => journal.append(append)))).toEqual([
    { moved: true, started: false },
    { moved: false, started: true },
  ])
  const { rowCount } = await superuser.query('select from map_items where execution_id = $1', [one.executionId])
  expect([(await rowOf(one.executionId)).status, (await rowOf(two.executionId)).status, rowCount]).toEqual([
    ...['succeeded', 'running'],
    1,
  ])
})

test.each([
  [2, 1],
  [15, 1],
  [16, 2],
  [100, 2],
])('%i appends that arrive together are sent in %i statements, to use both lanes', async (count, statements) => {
  const appends = Array.from({ length: count }, () => start())
  await Promise.all(appends.map((append) => journal.append(append)))
  const { rows } = await superuser.query(
    'select count(*)::integer as n from executions where execution_id = any ($1) group by xmin::text',
    [appends.map(({ executionId }) => executionId)],
  )
  expect(rows).toHaveLength(statements)
  expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(count)
})

/** A pool whose statements are answered one by one. `sizes` has the number of event rows of each statement. */
function manualPool() {
  const sizes: number[] = []
  const unanswered: (() => void)[] = []
  const query = ({ values }: { values: unknown[] }) =>
    new Promise((resolve) => {
      sizes.push((values[1] as Buffer).readInt32BE(12))
      unanswered.push(() => resolve({ rows: [{ alive: 1, generation: 0, moved: [], started: [] }] }))
    })
  const client = { query, on: () => {}, off: () => {}, release: () => {} }
  const answerAll = (): void => {
    for (const answer of unanswered.splice(0)) answer()
  }
  return { pool: { connect: async () => client } as unknown as pg.Pool, sizes, answerAll }
}

/** Forty starts of two workspaces, because the answers of a single one are not paced. */
const startsOfTwo = (): Append[] => {
  const others = newId()
  return Array.from({ length: 40 }, (_, n) => start(n % 2 ? { workspaceId: others } : {}))
}

test('the next statement waits until all executions of the last ones are answered, a few in each turn', async () => {
  const { pool, sizes, answerAll } = manualPool()
  const own = makeJournal({ pool, workerId, log })
  let answered = 0
  const both = startsOfTwo().map(async (append) => {
    await own.append(append)
    answered += 1
    await own.append(next(append))
  })
  await expect.poll(() => sizes).toEqual([20, 20])
  answerAll()
  await Promise.resolve()
  let most = 0
  for (let before = answered; answered < 40; before = answered) {
    await new Promise(setImmediate)
    most = Math.max(most, answered - before)
  }
  expect(most).toBeLessThanOrEqual(20)
  await expect.poll(() => sizes).toEqual([20, 20, 20, 20])
  answerAll()
  await Promise.all(both)
  await own.close()
})

test('an append that arrives while all statements are in flight is sent after their answers', async () => {
  const { pool, sizes, answerAll } = manualPool()
  const own = makeJournal({ pool, workerId, log })
  const all = Array.from({ length: 40 }, () => own.append(start()))
  await expect.poll(() => sizes).toEqual([20, 20])
  all.push(own.append(start()))
  answerAll()
  await expect.poll(() => sizes).toEqual([20, 20, 1])
  answerAll()
  await Promise.all(all)
  await own.close()
})

test('a journal that is closed answers all executions whose events are written', async () => {
  const { pool, sizes, answerAll } = manualPool()
  const own = makeJournal({ pool, workerId, log })
  const answers: unknown[] = []
  for (const append of startsOfTwo()) void own.append(append).then((answer) => answers.push(answer))
  await expect.poll(() => sizes).toEqual([20, 20])
  answerAll()
  await own.close()
  expect(answers).toEqual(Array(40).fill({ moved: false, started: false }))
})

/** Lets the first `times` statements that write events fail with this code. */
async function failEvents(code: string, times: number): Promise<void> {
  await superuser.query('create sequence failures')
  await superuser.query('grant usage on sequence failures to public')
  await superuser.query(`create function fail_events() returns trigger language plpgsql as $$ begin
    if nextval('failures') <= ${times} then raise exception 'not now' using errcode = '${code}'; end if;
    return null; end $$`)
  await superuser.query(
    'create trigger fail_events before insert on events for each statement execute function fail_events()',
  )
  onTestFinished(async () => {
    await superuser.query('drop trigger fail_events on events')
    await superuser.query('drop function fail_events')
    await superuser.query('drop sequence failures')
  })
}

/** A journal that is closed as soon as a batch is not accepted. */
function closedWhenNotAccepted() {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const warn = (): void => void own.close().then(resolve)
  const own = makeJournal({ pool: db.enginePool, workerId, log: Object.assign(pino({ level: 'fatal' }), { warn }) })
  return { own, closed }
}

test('a journal that is closed while the disk is full does not wait for room, and writes nothing later', async () => {
  const begun = start()
  await journal.append(begun)
  const { own, closed } = closedWhenNotAccepted()
  await failEvents('53100', 1_000)
  const appending = expect(own.append(next(begun))).rejects.toBeInstanceOf(Fenced)
  await closed
  await appending
  await expect(own.append(next(begun))).rejects.toBeInstanceOf(Unknown)
  expect(await eventsOf(begun.executionId)).toBe(1)
})

test('a journal that is closed after a conflict writes what it had begun to write', async () => {
  const begun = start()
  await journal.append(begun)
  const { own, closed } = closedWhenNotAccepted()
  await failEvents('40001', 1)
  const appending = own.append(next(begun))
  await closed
  expect(await appending).toEqual({ moved: false, started: false })
  expect(await eventsOf(begun.executionId)).toBe(2)
})

test('a journal that is closed before it has a second connection waits for its statement without work', async () => {
  const { pool, sizes, answerAll } = manualPool()
  let refuse = (_error: Error): void => {}
  vi.spyOn(pool, 'connect').mockImplementationOnce(() => new Promise((_resolve, reject) => (refuse = reject)))
  const own = makeJournal({ pool, workerId, log })
  const all = Array.from({ length: 20 }, () => own.append(start()))
  await expect.poll(() => sizes).toEqual([10])
  const closing = own.close()
  refuse(new Error('no connection is free'))
  await new Promise((resolve) => setImmediate(resolve))
  const planned = vi.spyOn(globalThis, 'setImmediate')
  const turns = 10
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(planned).toHaveBeenCalledTimes(turns)
  planned.mockRestore()
  answerAll()
  await expect.poll(() => sizes).toEqual([10, 10])
  answerAll()
  await Promise.all(all)
  await closing
})

test('an execution that was being started while its week was sealed goes on', async () => {
  const time = (Date.now() - 60 * DAY).toString(16).padStart(12, '0')
  const executionId = `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`
  const append = start({ executionId })
  await superuser.query(`select engine.ensure_week(to_timestamp($1, 'YYYYMMDD')::timestamp at time zone 'utc')`, [
    partitionOf(executionId),
  ])
  await journal.append(append)
  await superuser.query(
    `alter table executions_${partitionOf(executionId)} add constraint all_ended check (status = 'succeeded') not valid`,
  )
  const others = [start(), start()]
  const rowUpdate = { status: 'running' as const, seen: 1 }
  await Promise.all([journal.append(next(append, { rowUpdate })), ...others.map((other) => journal.append(other))])
  for (const { executionId: id } of [append, ...others]) expect(await eventsOf(id)).toBe(id === executionId ? 2 : 1)
})
