import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Definition, Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView } from './ports.ts'
import { type Bench, startTestEngine } from './testing.ts'

// One tenant computes and writes as much as it can. The tests check its limits, and that executions of another tenant
// continue.

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
  (await bench.engine.waitFor(workspaceId, id, 60 * SECOND)) as ExecutionView

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

test('an execution with much to compute starts at once and computes in slices, while an execution of another tenant continues', async () => {
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

test('an execution that was started and did nothing else starts with its first node when another worker claims it', async () => {
  const ref = bench.define(heavyRow(3))
  const id = await bench.run(ref, {}, { startInS: 0 })
  await ended(id)
  // The state of the journal if the process dies right after the start.
  await bench.db.engine((tx) => tx.rows('delete from events where execution_id = $1 and seq > 1', [id]))
  await bench.db.engine((tx) =>
    tx.rows(
      `update executions set status = 'queued', finished_at = null, results = null, due_at = now(), worker_id = null,
        epoch = epoch + 1 where execution_id = $1`,
      [id],
    ),
  )
  await bench.run(heavyRow(1))
  await expect.poll(async () => (await bench.engine.readExecution(bench.workspaceId, id))?.status).toBe('succeeded')
  const { nodes } = (await bench.engine.readExecution(bench.workspaceId, id)) as ExecutionView
  expect(nodes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
})

test('a large output of a control node is stored in the blob store, and read back when the execution continues', async () => {
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
])('a map fails if its outputs are too large together (on_item_error %s)', async (_name, on_item_error) => {
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

test('a map whose items have much to compute computes them in slices', async () => {
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

test('outputs that are large together are stored in the blob store, however small each is, and are read when the execution continues', async () => {
  const nodes = Array.from({ length: 60 }, (_, n) => ({
    id: `n${n}`,
    type: n % 2 === 0 ? 'set' : 'echo',
    args: (n % 2 === 0 ? { values: { n, text: { $ref: 'input.text' } } } : { value: { $ref: 'input.text' } }) as never,
  }))
  const definition: Definition = {
    nodes: [
      ...nodes,
      { id: 'rest', type: 'clarification', args: { question: 'Go on?' } },
      { id: 'last', type: 'echo', args: { value: { $cel: 'size(nodes.n58.output.text) + size(nodes.n59.output)' } } },
    ],
    edges: [...nodes.map(({ id }) => ({ from: { node: id }, to: 'rest' })), { from: { node: 'rest' }, to: 'last' }],
    output: { $ref: 'nodes.last.output' },
  }
  const executionId = await bench.run(definition, { text: 'x'.repeat(30_000) })
  const { workspaceId } = bench
  await expect.poll(async () => (await bench.engine.readExecution(workspaceId, executionId))?.status).toBe('waiting')
  await bench.db.tenant({ workspaceId, userId: null }, (tx) =>
    bench.engine.signal(
      tx,
      { workspaceId, executionId, key: 'a' },
      { type: 'clarification.answered', nodePath: 'rest', answer: 'yes', data: {} },
    ),
  )
  const view = await ended(executionId)
  expect(view).toMatchObject({ status: 'succeeded', results: 60_000 })
  const inStore = view.nodes.filter(({ blob }) => blob)
  expect(inStore.length).toBeGreaterThan(40)
  expect(view.nodes.filter(({ output }) => output !== undefined).length).toBeGreaterThan(10)
  const [{ bytes }] = (await bench.db.engine((tx) =>
    tx.rows('select sum(octet_length(data::text))::int as bytes from events where execution_id = $1', [
      view.execution_id,
    ]),
  )) as [{ bytes: number }]
  expect(bytes).toBeLessThan(600_000)
})

test('values that items of a map hold at the same time count together', async () => {
  const body = {
    nodes: [
      { id: 'copy', type: 'set', args: { values: { ...copies(7, 'input.big').values, index: { $ref: 'index' } } } },
      { id: 'rest', type: 'wait', args: { for_s: 600 } },
    ],
    edges: [{ from: { node: 'copy' }, to: 'rest' }],
  }
  const args = { items: { $ref: 'input.items' }, body: body as unknown as Json, concurrency: 10 }
  const definition: Definition = { nodes: [{ id: 'each', type: 'map', args }], edges: [] }
  const items = Array.from({ length: 10 }, (_, n) => n)
  const view = await ended(await bench.run(definition, { big: 'x'.repeat(1_000_000), items }))
  expect(view).toMatchObject({ status: 'failed', error: { code: 'result_too_large', node_id: 'each' } })
  expect(view.error?.message).toContain('64 MiB')
})

test('nested maps ask a limited number of questions at once, and the rest when those are answered', async () => {
  const asking = { nodes: [{ id: 'q', type: 'clarification', args: { question: 'Which?' } }], edges: [] }
  const inner = { items: { $ref: 'input' }, concurrency: 100, body: asking as unknown as Json }
  const args = {
    items: { $ref: 'input' },
    concurrency: 100,
    body: { nodes: [{ id: 'inner', type: 'map', args: inner }], edges: [] } as unknown as Json,
  }
  const definition: Definition = { nodes: [{ id: 'each', type: 'map', args }], edges: [] }
  const count = 26
  const id = await bench.run(
    definition,
    Array.from({ length: count }, (_, n) => n),
  )
  const asked = (): string[] =>
    bench.opened.filter(({ executionId }) => executionId === id).map(({ nodePath }) => nodePath)
  const answered = new Set<string>()
  let most = 0
  while (answered.size < count * count) {
    const waiting = await bench.engine.readExecution(bench.workspaceId, id)
    most = Math.max(most, waiting?.waiting_for.length ?? 0)
    const open = [...new Set(asked())].filter((path) => !answered.has(path))
    await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, async (tx) => {
      for (const nodePath of open)
        bench.engine.send(
          tx,
          { workspaceId: bench.workspaceId, executionId: id, key: nodePath },
          { type: 'clarification.answered', nodePath, answer: 'this', data: {} },
        )
    })
    for (const path of open) answered.add(path)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  expect(most).toBeLessThanOrEqual(500)
})
