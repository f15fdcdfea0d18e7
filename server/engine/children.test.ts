import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Definition, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView } from './ports.ts'
import { type Bench, startTestEngine } from './testing.ts'

// Sub-workflows that their parents no longer wait for.

let database: TestDatabase
let bench: Bench
/** Called while a sub-workflow is being started. */
let starting: () => Promise<void> = async () => {}

beforeAll(async () => {
  database = await makeTestDatabase()
  bench = await startTestEngine(database.urls, {
    ports: {
      resolveWorkflow: async (_workspaceId, { workflow_id }) => {
        await starting()
        return { definitionRef: workflow_id, workflowId: null, versionId: null }
      },
    },
  })
})
afterEach(() => {
  starting = async () => {}
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const view = async (id: string): Promise<ExecutionView> => (await bench.engine.readExecution(bench.workspaceId, id))!
const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 20 * SECOND)) as ExecutionView

const statusOf = async (id: string, node: string) =>
  (await view(id)).nodes.find(({ node_id }) => node_id === node)?.status

/** Returns the status of each child by the path of its node. */
const children = async (executionId: string): Promise<Record<string, string>> => {
  const rows = await bench.db.engine((tx) =>
    tx.rows<{ parent_node: string; status: string }>(
      'select parent_node, status from executions where parent_execution_id = $1',
      [executionId],
    ),
  )
  return Object.fromEntries(rows.map(({ parent_node, status }) => [parent_node, status]))
}
const childrenBecome = (executionId: string, expected: Record<string, string>): Promise<void> =>
  expect.poll(() => children(executionId)).toEqual(expected)

const question: Node = { id: 'q', type: 'clarification', args: { question: '?' } }
const sub = (more: Partial<Node> = {}): Node => ({
  id: 's',
  type: 'subworkflow',
  args: { workflow_id: bench.define({ nodes: [question], edges: [] }), input: {} },
  ...more,
})
/** A node that fails the item with the number 1 after all sub-workflows were started. */
const failing = (): Definition => ({
  nodes: [sub(), { id: 'w', type: 'wait', args: { for_s: 1.2 } }, { id: 'f', type: 'fail', args: {} }],
  edges: [{ from: { node: 'w' }, to: 'f', when: { $cel: 'item == 1' } }],
})
const map = (body: Definition, more: Partial<Node> = {}, args: object = {}): Node => ({
  id: 'm',
  type: 'map',
  args: { items: [0, 1], body, ...args } as never,
  ...more,
})
/** Runs the node, then asks a question, so that the execution is still live when the node has failed. */
const thenAsk = (node: Node): Definition => ({
  nodes: [node, question],
  edges: [{ from: { node: node.id }, to: 'q' }],
})
const asks = (id: string): Promise<void> =>
  expect.poll(async () => (await view(id)).waiting_for.map(({ kind }) => kind)).toContain('clarification')

describe('a map that fails', () => {
  test('cancels the sub-workflows of its other items', async () => {
    const id = await bench.run(thenAsk(map(failing(), { on_error: 'continue' })))
    await asks(id)
    await childrenBecome(id, { 'm[0].s': 'cancelled', 'm[1].s': 'cancelled' })
  })

  test('cancels those of nested maps, and of the attempt before', async () => {
    const inner = map(failing(), { id: 'n' })
    const outer = map(
      { nodes: [inner], edges: [] },
      { on_error: 'continue', retry: { max_attempts: 2, backoff_s: 0 } },
      { items: [0] },
    )
    const id = await bench.run(thenAsk(outer))
    await asks(id)
    await childrenBecome(
      id,
      Object.fromEntries(
        ['m[0].n[0].s', 'm[0].n[1].s', 'm#2[0].n[0].s', 'm#2[0].n[1].s'].map((path) => [path, 'cancelled']),
      ),
    )
  })

  test('cancels them before the finally nodes of the execution end', async () => {
    const id = await bench.run({ nodes: [map(failing()), { ...question, finally: true } as Node], edges: [] })
    await asks(id)
    await childrenBecome(id, { 'm[0].s': 'cancelled', 'm[1].s': 'cancelled' })
  })
})

test('an item that fails in a map that collects errors cancels only its own sub-workflow', async () => {
  const id = await bench.run({ nodes: [map(failing(), {}, { on_item_error: 'collect' })], edges: [] })
  await childrenBecome(id, { 'm[0].s': 'waiting', 'm[1].s': 'cancelled' })
  await expect.poll(async () => (await view(id)).status).toBe('waiting')
  expect(await children(id)).toMatchObject({ 'm[0].s': 'waiting' })
})

describe('a sub-workflow that is being started', () => {
  /** Runs the definition. The start of its sub-workflow continues when the returned function is called. */
  const runHeld = async (definition: Definition): Promise<{ id: string; letStart(): void }> => {
    const held = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    starting = () => {
      reached.resolve()
      return held.promise
    }
    const id = await bench.run(definition)
    await reached.promise
    return { id, letStart: held.resolve }
  }

  test('while its node exceeds its timeout is cancelled', async () => {
    const { id, letStart } = await runHeld(thenAsk(sub({ timeout_s: 0.2, on_error: 'continue' })))
    await expect.poll(() => statusOf(id, 's')).toBe('failed')
    letStart()
    await childrenBecome(id, { s: 'cancelled' })
  })

  test('while its execution fails is cancelled', async () => {
    const wait: Node = { id: 'w', type: 'wait', args: { for_s: 0.2 } }
    const fail: Node = { id: 'f', type: 'fail', args: {} }
    const edges = [{ from: { node: 'w' }, to: 'f' }]
    const { id, letStart } = await runHeld({ nodes: [sub(), wait, fail], edges })
    expect(await ended(id)).toMatchObject({ status: 'failed' })
    letStart()
    await childrenBecome(id, { s: 'cancelled' })
  })

  test('while its map fails is cancelled', async () => {
    const { id, letStart } = await runHeld(thenAsk(map(failing(), { on_error: 'continue' })))
    await expect.poll(() => statusOf(id, 'm')).toBe('failed')
    letStart()
    await childrenBecome(id, { 'm[0].s': 'cancelled', 'm[1].s': 'cancelled' })
  })
})
