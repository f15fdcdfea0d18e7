import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Definition, Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView } from './ports.ts'
import { type Bench, startTestEngine } from './testing.ts'

// One tenant computes and writes as much as it can; what it gets, and that a neighbour goes on beside it.

let database: TestDatabase
let bench: Bench

beforeAll(async () => {
  database = await makeTestDatabase()
  bench = await startTestEngine(database.urls)
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const ended = async (id: string, workspaceId = bench.workspaceId): Promise<ExecutionView> =>
  (await bench.engine.waitFor(workspaceId, id, 20 * SECOND)) as ExecutionView

const list = '[0,1,2,3,4,5,6,7,8,9]'
const HEAVY = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`

const heavyRow = (length: number): Definition => ({
  nodes: Array.from({ length }, (_, n) => ({ id: `n${n}`, type: 'set', args: { values: { v: { $cel: HEAVY } } } })),
  edges: Array.from({ length: length - 1 }, (_, n) => ({ from: { node: `n${n}` }, to: `n${n + 1}` })),
  output: { $ref: `nodes.n${length - 1}.output.v` },
})

const copies = (count: number, $ref: string) => ({
  values: Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, { $ref }])),
})

test('an execution with much to compute is started at once and computes in slices, a neighbour goes on beside it', async () => {
  const neighbour = newId()
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const heavy = await bench.run(heavyRow(40))
  const light = await bench.run(
    { nodes: [{ id: 'n', type: 'echo', args: { value: 1 } }], edges: [] },
    {},
    { workspaceId: neighbour },
  )
  expect((await ended(light, neighbour)).status).toBe('succeeded')
  expect(await ended(heavy)).toMatchObject({ status: 'succeeded', results: true })
  isOver = true
  expect(turns).toBeGreaterThan(20)
  const events = await bench.engine.readEvents(bench.workspaceId, heavy, 0, 100)
  expect(events.map(({ type }) => type)).toEqual([
    'execution.started',
    ...Array.from({ length: 40 }, () => 'node.succeeded'),
    'execution.succeeded',
  ])
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
})

test('one that was started and got no further begins with its first node wherever it is taken up', async () => {
  const ref = bench.define(heavyRow(3))
  const id = await bench.run(ref, {}, { maxConcurrency: 1 })
  await ended(id)
  // As the journal stands when the process dies right after the start.
  await bench.db.engine((tx) => tx.rows('delete from events where execution_id = $1 and seq > 1', [id]))
  await bench.db.engine((tx) =>
    tx.rows(
      `update executions set status = 'queued', finished_at = null, results = null, due_at = now(), worker_id = null,
        epoch = epoch + 1 where execution_id = $1`,
      [id],
    ),
  )
  await bench.run(heavyRow(1))
  await expect
    .poll(async () => (await bench.engine.readExecution(bench.workspaceId, id))?.status, { timeout: 10_000 })
    .toBe('succeeded')
  const { nodes } = (await bench.engine.readExecution(bench.workspaceId, id)) as ExecutionView
  expect(nodes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
})

test('a large output of a control node is kept in the blob store, and read back when the execution goes on', async () => {
  const definition: Definition = {
    nodes: [
      { id: 'large', type: 'set', args: copies(3, 'input.text') },
      { id: 'pass', type: 'branch', args: { cases: [{ port: 'on', when: { $cel: 'true' } }] } },
      { id: 'rest', type: 'wait', args: { for_s: 1.2 } },
      { id: 'last', type: 'echo', args: { value: { $cel: 'size(nodes.pass.output.v2)' } } },
    ],
    edges: [
      { from: { node: 'large' }, to: 'pass' },
      { from: { node: 'pass', port: 'on' }, to: 'rest' },
      { from: { node: 'rest' }, to: 'last' },
    ],
    output: { $ref: 'nodes.last.output' },
  }
  const view = await ended(await bench.run(definition, { text: 'x'.repeat(100_000) }))
  expect(view).toMatchObject({ status: 'succeeded', results: 100_000 })
  const [large, pass] = view.nodes
  expect(large).toMatchObject({ node_id: 'large', blob: { bytes: expect.any(Number) } })
  expect(pass?.blob).toEqual(large?.blob)
  const [{ bytes }] = (await bench.db.engine((tx) =>
    tx.rows('select max(length(data::text)) as bytes from events where execution_id = $1', [view.execution_id]),
  )) as [{ bytes: number }]
  expect(bytes).toBeLessThan(2_000)
})

test.each<[string, Json]>([
  ['fail', 'fail'],
  ['collect', 'collect'],
])('items whose outputs are too large together end the map (on_item_error %s)', async (_name, on_item_error) => {
  const body = {
    nodes: [{ id: 'copy', type: 'set', args: copies(2, 'input.big') }],
    edges: [],
    output: { $ref: 'nodes.copy.output' },
  }
  const args = { items: { $ref: 'input.items' }, body: body as unknown as Json, on_item_error, concurrency: 5 }
  const definition: Definition = { nodes: [{ id: 'each', type: 'map', args }], edges: [] }
  const items = Array.from({ length: 200 }, (_, n) => n)
  const view = await ended(await bench.run(definition, { big: 'x'.repeat(500_000), items }))
  expect(view).toMatchObject({ status: 'failed', error: { code: 'result_too_large', node_id: 'each' } })
  const [{ rows }] = (await bench.db.engine((tx) =>
    tx.rows('select count(*)::int as rows from map_items where execution_id = $1', [view.execution_id]),
  )) as [{ rows: number }]
  expect(rows).toBeLessThan(15)
})

test('a map whose items have much to compute computes them in slices too', async () => {
  const body = {
    nodes: [{ id: 'v', type: 'set', args: { values: { v: { $cel: HEAVY } } } }],
    edges: [],
    output: { $ref: 'nodes.v.output.v' },
  }
  const args = { items: { $ref: 'input' }, body: body as unknown as Json, concurrency: 100 }
  const definition: Definition = {
    nodes: [{ id: 'each', type: 'map', args }],
    edges: [],
    output: { $ref: 'nodes.each.output' },
  }
  const view = await ended(
    await bench.run(
      definition,
      Array.from({ length: 60 }, (_, n) => n),
    ),
  )
  expect(view).toMatchObject({ status: 'succeeded', results: Array.from({ length: 60 }, () => true) })
})
