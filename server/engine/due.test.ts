import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let bench: Bench
let asked = 0
let settle: (() => void) | undefined
let stopping: (() => void) | undefined

beforeAll(async () => {
  database = await makeTestDatabase()
  const stubborn = kind('stubborn', 'idempotent', async ({ signal }) => {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        stopping = resolve
      })
    })
    return { output: null }
  })
  bench = await startTestEngine(database.urls, {
    nodes: [stubborn],
    ports: {
      openGate: async () => ({ data: {}, dueAt: new Date(Date.now() - 1_000) }),
      due: async () => {
        asked += 1
        await new Promise<void>((resolve) => {
          settle = resolve
        })
        return { dueAt: null }
      },
    },
  })
})
afterAll(async () => {
  settle?.()
  stopping?.()
  await bench?.stop()
  await database?.drop()
})

/** Returns how many timers that fire at once are set during a hundred statements. */
async function immediateTimers(): Promise<number> {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  for (let times = 0; times < 100; times += 1) await bench.db.engine((tx) => tx.rows('select'))
  const { calls } = timers.mock
  timers.mockRestore()
  return calls.filter(([, ms]) => ms === 1).length
}

test('an execution does nothing while a gate that is due is being settled', async () => {
  await bench.run({ nodes: [{ id: 'gate', type: 'approval', args: { title: 'Go?' } }], edges: [] })
  await expect.poll(() => asked).toBe(1)
  expect(await immediateTimers()).toBe(0)
  expect(asked).toBe(1)
})

test('an execution is parked after its gate was settled, even if its inbox could not be read', async () => {
  asked = 0
  const id = await bench.run({ nodes: [{ id: 'gate', type: 'approval', args: { title: 'Go?' } }], edges: [] })
  await expect.poll(() => asked).toBe(1)
  const { enginePool } = bench.db
  const query = enginePool.query.bind(enginePool) as (...args: unknown[]) => Promise<unknown>
  let failed = 0
  const pool = vi.spyOn(enginePool, 'query').mockImplementation((async (statement: { name?: string }, ...more: []) => {
    const answer = await query(statement, ...more)
    if (statement.name !== 'engine-inbox' || failed > 0) return answer
    failed += 1
    throw new Error('the connection broke before the answer arrived')
  }) as never)
  settle!()
  await expect
    .poll(async () => (await bench.engine.readExecution(bench.workspaceId, id))?.status, { interval: 10 })
    .toBe('waiting')
  pool.mockRestore()
  expect(failed).toBe(1)
})

test('an execution does nothing while a cancelled node stops, even if a timer is due', async () => {
  const id = await bench.run({
    nodes: [
      { id: 'slow', type: 'stubborn' },
      { id: 'timer', type: 'wait', args: { for_s: 0.4 } },
    ],
    edges: [],
  })
  await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.cancel(tx, { workspaceId: bench.workspaceId, executionId: id }, null),
  )
  await expect.poll(() => stopping).toBeDefined()
  await expect
    .poll(async () => {
      const events = await bench.engine.readEvents(bench.workspaceId, id, 0, 10)
      const begun = events.find(({ data }) => data.node_id === 'timer')!.at
      const [row] = await bench.db.engine((tx) =>
        tx.rows<{ over: boolean }>(`select now() > $1::timestamptz + interval '0.5 seconds' as over`, [begun]),
      )
      return row?.over
    })
    .toBe(true)
  expect(await immediateTimers()).toBe(0)
  stopping!()
  expect(await bench.engine.waitFor(bench.workspaceId, id, 20_000)).toMatchObject({ status: 'cancelled' })
})
