import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import type { ExecutionView, Signal } from './ports.ts'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

// Bodies of maps that do several things at once, or that wait.

let database: TestDatabase
let bench: Bench
const keys: string[] = []

beforeAll(async () => {
  database = await makeTestDatabase()
  const keyed = kind('keyed', 'idempotent', ({ effectKey, attempt }) => {
    keys.push(effectKey)
    if (keys.length === 1 && attempt === 1) throw new NodeFailure('once', 'not yet')
    return { output: effectKey }
  })
  bench = await startTestEngine(database.urls, { nodes: [keyed] })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)) as ExecutionView

const until = (executionId: string, status: string) =>
  expect
    .poll(async () => (await bench.engine.readExecution(bench.workspaceId, executionId))?.status, { interval: 10 })
    .toBe(status)

const tell = (executionId: string, key: string, message: Signal) =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.signal(tx, { workspaceId: bench.workspaceId, executionId, key }, message),
  )

const mapOver = (items: number[], body: object, more: object = {}) => ({
  nodes: [{ id: 'm', type: 'map', args: { items, body, ...more } as never }],
  edges: [],
  output: { $ref: 'nodes.m.output' },
})

const edge = (from: string, to: string) => ({ from: { node: from }, to })

const children = (executionId: string) =>
  bench.db.engine((tx) =>
    tx.rows<{ status: string }>('select status from executions where parent_execution_id = $1', [executionId]),
  )

describe('an item of a map', () => {
  test('can run several nodes at once', async () => {
    const body = {
      nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'echo', args: { value: id } })),
      edges: [],
      output: { $cel: 'nodes.a.output + nodes.b.output + nodes.c.output + nodes.d.output' },
    }
    const id = await bench.run(mapOver([1, 2, 3], body))
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: ['abcd', 'abcd', 'abcd'] })
  })

  test('can contain a gate whose vote and resulting decision arrive together', async () => {
    const body = {
      nodes: [{ id: 'g', type: 'approval', args: { title: 'Pay?' } }],
      edges: [],
      output: { $ref: 'nodes.g.output.status' },
    }
    const id = await bench.run(mapOver([1, 2], body))
    await until(id, 'waiting')
    for (const nodePath of ['m[0].g', 'm[1].g']) {
      await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, async (tx) => {
        const at = { workspaceId: bench.workspaceId, executionId: id }
        await bench.engine.signal(tx, { ...at, key: `v ${nodePath}` }, { type: 'approval.voted', nodePath, data: {} })
        await bench.engine.signal(
          tx,
          { ...at, key: `r ${nodePath}` },
          { type: 'approval.resolved', nodePath, outcome: 'approved', output: { status: 'approved' }, data: {} },
        )
      })
    }
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: ['approved', 'approved'] })
  })

  test('can ask two questions at once', async () => {
    const body = {
      nodes: ['q', 'r'].map((id) => ({ id, type: 'clarification', args: { question: id } })),
      edges: [],
      output: { $cel: '[nodes.q.output, nodes.r.output]' },
    }
    const id = await bench.run(mapOver([1, 2], body))
    await until(id, 'waiting')
    for (const nodePath of ['m[0].q', 'm[0].r', 'm[1].q', 'm[1].r'])
      await tell(id, nodePath, { type: 'clarification.answered', nodePath, answer: nodePath, data: {} })
    expect(await ended(id)).toMatchObject({
      status: 'succeeded',
      results: [
        ['m[0].q', 'm[0].r'],
        ['m[1].q', 'm[1].r'],
      ],
    })
  })

  test('waits once, however often the execution is parked in the meantime', async () => {
    const body = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 1.5 } }], edges: [], output: { $ref: 'item' } }
    const id = await bench.run(mapOver([1, 2], body))
    await until(id, 'waiting')
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: [1, 2] })
  })

  test('starts its sub-workflow once', async () => {
    const child = bench.define({
      nodes: [{ id: 'w', type: 'wait', args: { for_s: 1.2 } }, ...chain(1).nodes],
      edges: [{ from: { node: 'w' }, to: 'n0' }],
      output: { $ref: 'nodes.n0.output' },
    })
    const body = {
      nodes: ['a', 'b'].map((node) => ({
        id: node,
        type: 'subworkflow',
        args: { workflow_id: child, input: { value: node } },
      })),
      edges: [],
      output: { $cel: 'nodes.a.output + nodes.b.output' },
    }
    const id = await bench.run(mapOver([1, 2], body))
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: ['ab', 'ab'] })
    expect(await children(id)).toHaveLength(4)
  })

  test('counts the outputs of its nodes with those of the surrounding graph', async () => {
    const held = { id: 'held', type: 'set', args: { values: { $ref: 'input' } } }
    const body = { nodes: [held, { id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [edge('held', 'w')] }
    const { nodes } = mapOver(
      Array.from({ length: 30 }, (_, n) => n),
      body,
      { concurrency: 30 },
    )
    const id = await bench.run(
      {
        nodes: [...nodes, { id: 'q', type: 'clarification', args: { question: 'Go?' } }, { ...held, id: 'last' }],
        edges: [edge('q', 'last')],
      },
      { text: 'x'.repeat(20_000) },
    )
    await until(id, 'waiting')
    await tell(id, 'a', { type: 'clarification.answered', nodePath: 'q', answer: 'Yes', data: {} })
    // Together they are too large for the journal, so the last one is in the blob store.
    await expect
      .poll(async () => {
        const view = await bench.engine.readExecution(bench.workspaceId, id)
        return view?.nodes.find(({ node_id }) => node_id === 'last')
      })
      .toMatchObject({ status: 'succeeded', blob: { bytes: 20_011 } })
  })

  test('uses the same effect key when the whole map is retried', async () => {
    keys.length = 0
    const body = { nodes: [{ id: 'k', type: 'keyed' }], edges: [], output: { $ref: 'nodes.k.output' } }
    const definition = mapOver([1], body)
    Object.assign(definition.nodes[0]!, { retry: { max_attempts: 2, backoff_s: 0 } })
    const view = await ended(await bench.run(definition))
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(view).toMatchObject({ status: 'succeeded', results: [keys[0]] })
  })
})
