import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView } from './ports.ts'
import { type Bench, startTestEngine } from './testing.ts'
import { CLAIMED } from './worker/claim-store.ts'

// A message that ends the wait of an execution hands the execution over to the worker of the same process, in the
// transaction of the message.

let database: TestDatabase
let bench: Bench
let superuser: pg.Client

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  // As in production. Test databases otherwise confirm a commit before it is on disk.
  await superuser.query(`alter database ${database.name} set synchronous_commit = on`)
  // Short ticks, because an execution that its worker does not know of returns to the queue after sixteen ticks.
  bench = await startTestEngine(database.urls, { engine: { tickMs: 40 } })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

class RolledBack extends Error {}

const asking = (id: string) => ({ id, type: 'clarification', args: { question: '?' } })
const one = { nodes: [asking('q')], edges: [], output: { $ref: 'nodes.q.output' } }

type Row = { status: string; worker_id: string | null; inbox: number }
const rowOf = (tx: Tx, executionId: string): Promise<Row> =>
  tx.row<Row>('select status, worker_id, inbox from executions where workspace_id = $1 and execution_id = $2', [
    bench.workspaceId,
    executionId,
  ])

const answer = (tx: Tx, executionId: string, nodePath = 'q', isLast = true): void =>
  bench.engine.send(
    tx,
    { workspaceId: bench.workspaceId, executionId, key: `answer ${nodePath}` },
    { type: 'clarification.answered', nodePath, answer: nodePath, data: {} },
    { isLast },
  )

const inTenant = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, work)

/** Returns the row as it is inside a transaction that answers and is then rolled back. */
const tried = async (executionId: string): Promise<Row> => {
  let seen: Row | undefined
  await inTenant(async (tx) => {
    answer(tx, executionId)
    seen = await rowOf(tx, executionId)
    throw new RolledBack()
  }).catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error
  })
  return seen!
}

/** Starts an execution and waits until this process knows that it is parked here. */
async function parked(definition: Parameters<Bench['run']>[0] = one): Promise<string> {
  const id = await bench.run(definition)
  await expect.poll(async () => (await bench.engine.readExecution(bench.workspaceId, id))?.status).toBe('waiting')
  await expect.poll(async () => (await tried(id)).status).toBe('running')
  return id
}

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)) as ExecutionView

const countOf = async (executionId: string, type: string): Promise<number> =>
  (await bench.engine.readEvents(bench.workspaceId, executionId, 0, 100)).filter((event) => event.type === type).length

test('an execution runs when the message is committed, continues once, and is unchanged when the message is rolled back', async () => {
  const id = await parked()
  expect(await inTenant((tx) => rowOf(tx, id))).toMatchObject({ status: 'waiting', worker_id: null, inbox: 0 })
  const inside = await inTenant(async (tx) => {
    answer(tx, id)
    return rowOf(tx, id)
  })
  expect(inside).toMatchObject({ status: 'running', worker_id: expect.any(String), inbox: 1 })
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'q' })
  expect(await countOf(id, 'execution.resumed')).toBe(1)
  expect(await countOf(id, 'clarification.answered')).toBe(1)
})

test('the sender receives the confirmation only when the message is on disk, although the execution continues before', async () => {
  const id = await parked()
  const handedOver = await inTenant(async (tx) => {
    answer(tx, id)
    await rowOf(tx, id)
    return tx.row<{ lsn: string; waits: string }>(
      `select pg_current_wal_insert_lsn() as lsn, current_setting('synchronous_commit') as waits`,
    )
  })
  const { rows } = await superuser.query('select pg_current_wal_flush_lsn() >= $1::pg_lsn as flushed', [handedOver.lsn])
  expect(handedOver.waits).toBe('off')
  expect(rows).toEqual([{ flushed: true }])
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'q' })
})

test('earlier messages of the transaction are handed over too, and messages with the same key change nothing', async () => {
  const both = {
    nodes: [asking('a'), asking('q')],
    edges: [],
    output: { a: { $ref: 'nodes.a.output' }, q: { $ref: 'nodes.q.output' } },
  }
  const id = await parked(both)
  await inTenant(async (tx) => {
    answer(tx, id, 'a', false)
    answer(tx, id, 'q')
  })
  await inTenant(async (tx) => answer(tx, id, 'q'))
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: { a: 'a', q: 'q' } })
  expect(await countOf(id, 'clarification.answered')).toBe(2)
})

test('an execution is queued while its worker is being declared dead, and continues afterwards', async () => {
  const id = await parked()
  await superuser.query('begin')
  await superuser.query('select from workers where not dead for update')
  const inside = await inTenant(async (tx) => {
    answer(tx, id)
    return rowOf(tx, id)
  })
  await superuser.query('rollback')
  expect(inside).toMatchObject({ status: 'queued', worker_id: null })
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
})

test('an execution continues although the process does not learn that the transaction was committed', async () => {
  const id = await parked()
  await inTenant(async (tx) => answer({ ...tx, after: () => {} }, id))
  expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'q' })
  expect(await countOf(id, 'clarification.answered')).toBe(1)
})

test('a hundred executions that are answered at once all continue', async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, () => bench.run(one)))
  for (const id of ids) await expect.poll(async () => bench.engine.statusOf(bench.workspaceId, id)).toBe('waiting')
  // Answer only as many at once as there are connections: a request that waits seconds for a connection is refused.
  const left = [...ids]
  const answerRest = async (): Promise<void> => {
    for (let id = left.pop(); id; id = left.pop()) await inTenant(async (tx) => answer(tx, id!))
  }
  await Promise.all(Array.from({ length: bench.db.appPool.options.max }, answerRest))
  for (const id of ids) {
    expect(await ended(id)).toMatchObject({ status: 'succeeded' })
    expect(await countOf(id, 'clarification.answered')).toBe(1)
  }
})

test('a handed-over execution has every column that a claim returns', async () => {
  const id = await parked()
  const { rows } = await superuser.query(`select worker_id from workers where not dead`)
  let columns: string[] = []
  await inTenant(async (tx) => {
    const { claimed } = await tx.row<{ claimed: { row: object } }>(
      `select engine.signal_and_claim($1, $2, $3, 'k', '{}') as claimed`,
      [rows[0].worker_id, bench.workspaceId, id],
    )
    columns = Object.keys(claimed.row)
    throw new RolledBack()
  }).catch(() => {})
  expect(columns).toEqual(CLAIMED.split(/,\s*/))
  await inTenant(async (tx) => answer(tx, id))
  await ended(id)
})
