import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Json, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Bench, kind, startTestEngine } from './testing.ts'

// A map or loop is read back while its execution has much else to compute. While the rows of the workers are locked, no
// append is written; while the table of items is locked, no item is read.

let database: TestDatabase
let fence: pg.Client
let items: pg.Client
let bench: Bench
/** The paths of nodes that have begun, and the functions that let them end. */
let begun: string[] = []
let ends = new Map<string, () => void>()

const held = kind('held', 'idempotent', async ({ nodePath, signal }) => {
  begun.push(nodePath)
  await new Promise<void>((resolve, reject) => {
    ends.set(nodePath, resolve)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  return { output: nodePath }
})

beforeAll(async () => {
  database = await makeTestDatabase()
  fence = await database.superuser()
  items = await database.superuser()
  bench = await startTestEngine(database.urls, { nodes: [held] })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})
beforeEach(() => {
  begun = []
  ends = new Map()
})

const isHeld = async (client: pg.Client, query: string): Promise<boolean> =>
  (
    await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [query],
    )
  ).rowCount !== 0

const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: 'Which?' } }], edges: [] }

const answer = (executionId: string, nodePath: string): Promise<unknown> =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.signal(
      tx,
      { workspaceId: bench.workspaceId, executionId, key: nodePath },
      { type: 'clarification.answered', nodePath, answer: 'this', data: {} },
    ),
  )

const asked = (executionId: string): string[] =>
  bench.opened.filter((wait) => wait.executionId === executionId).map(({ nodePath }) => nodePath)

test.each<[string, Json]>([
  ['map', { items: [1, 2, 3], concurrency: 1, body: asking as unknown as Json }],
  ['loop', { max_iterations: 3, until: { $cel: 'turn == 3' }, body: asking as unknown as Json }],
])('a %s that is read back asks each question once', async (type, args) => {
  const much = { $cel: 'input.map(x, input.filter(y, y != x).size()).size()' }
  const heavy = Array.from({ length: 12 }, (_, n) => `heavy${n}`)
  const nodes: Node[] = [
    { id: 'm', type, args: args as Node['args'] & object },
    { id: 'first', type: 'held' },
    { id: 'second', type: 'held' },
    ...heavy.map((heavyId) => ({ id: heavyId, type: 'set', args: { values: { much } } })),
  ]
  const edges = heavy.map((to) => ({ from: { node: 'second' }, to }))
  const input = Array.from({ length: 100 }, (_, n) => n)
  const id = await bench.run({ nodes, edges }, input)
  await expect.poll(() => asked(id)).toEqual(['m[0].q'])
  await expect
    .poll(async () => (await items.query('select from map_items where execution_id = $1', [id])).rowCount)
    .toBe(1)

  // Another worker reads the execution back, but not yet its items.
  await items.query('begin')
  await items.query('lock table map_items')
  await fence.query('select engine.bury(worker_id) from workers where not dead')
  await expect.poll(() => begun.filter((path) => path === 'second')).toHaveLength(2)
  await expect.poll(() => isHeld(fence, '%from map_items%')).toBe(true)

  // Its next append waits. Meanwhile another node ends, whose successors have much to compute, and the items are read.
  await fence.query('begin')
  await fence.query('select from workers where not dead for update')
  ends.get('first')!()
  await expect.poll(() => isHeld(items, 'with fence%')).toBe(true)
  ends.get('second')!()
  await items.query('commit')
  await expect.poll(() => isHeld(items, '%from map_items%')).toBe(false)
  for (let times = 0; times < 20; times += 1) await bench.db.engine((tx) => tx.rows('select'))
  await fence.query('commit')

  for (const path of ['m[0].q', 'm[1].q', 'm[2].q']) {
    await expect.poll(() => asked(id)).toContain(path)
    await answer(id, path)
  }
  expect(await bench.engine.waitFor(bench.workspaceId, id, 20 * SECOND)).toMatchObject({ status: 'succeeded' })
  expect(asked(id)).toEqual(['m[0].q', 'm[1].q', 'm[2].q'])
})
