import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Definition, Json, JsonObject, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import type { ExecutionView, Signal } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let bench: Bench
let superuser: pg.Client
const done: string[] = []
const killed = new Set<string>()

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  // Declares the worker dead the first time that each iteration reaches this node, before anything of the iteration
  // is recorded.
  const dying = kind('dying', 'idempotent', async ({ nodePath, args, executionId }) => {
    const key = `${executionId} ${nodePath}`
    if (!killed.has(key)) {
      killed.add(key)
      await superuser.query('select engine.bury(worker_id) from workers where not dead')
    } else done.push(nodePath)
    return { output: args.value ?? null }
  })
  const second = kind('second-time', 'idempotent', ({ attempt, args }) => {
    if (attempt === 1) throw new NodeFailure('once', 'the first time it fails')
    return { output: args.value ?? null }
  })
  bench = await startTestEngine(database.urls, { nodes: [dying, second] })
})
afterAll(async () => {
  await bench?.stop()
  await superuser?.end()
  await database?.drop()
})

const ended = async (executionId: string): Promise<ExecutionView> =>
  (await bench.engine.waitFor(bench.workspaceId, executionId, 25 * SECOND)) as ExecutionView

const until = (executionId: string, status: string) =>
  expect
    .poll(async () => (await bench.engine.readExecution(bench.workspaceId, executionId))?.status, {
      interval: 10,
      timeout: 10 * SECOND,
    })
    .toBe(status)

const tell = (executionId: string, key: string, message: Signal) =>
  bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
    bench.engine.signal(tx, { workspaceId: bench.workspaceId, executionId, key }, message),
  )

const set = (id: string, value: Json): Node => ({ id, type: 'set', args: { values: { value } } })
const echo = (value: Json): Node => ({ id: 'b', type: 'echo', args: { value } })

/** Returns a body with these nodes. */
const body = (nodes: Node[], output?: Json): JsonObject =>
  ({ nodes, edges: [], ...(output !== undefined && { output }) }) as unknown as JsonObject

const counting = body([echo({ $cel: 'state + 1.0' })], { $ref: 'nodes.b.output' })

const loopOf = (args: JsonObject, more: Partial<Node> = {}): Definition => ({
  nodes: [{ id: 'l', type: 'loop', args, ...more }],
  edges: [],
  output: { $ref: 'nodes.l.output' },
})

const rowsOf = async (executionId: string) =>
  (
    await superuser.query<{ index: number; status: string; output: JsonObject | null }>(
      'select index, status, output from map_items where execution_id = $1 order by path, index',
      [executionId],
    )
  ).rows

describe('a loop', () => {
  test.each<[string, JsonObject, Json]>([
    ['runs until its condition is true', { until: { $cel: 'state >= 5' } }, { turns: 5, state: 5 }],
    ['runs while its condition is true', { while: { $cel: 'state < 4' } }, { turns: 4, state: 4 }],
    ['does nothing if its condition is false at first', { while: { $cel: 'false' } }, { turns: 0, state: 0 }],
    ['has at least one turn with until', { until: { $cel: 'true' } }, { turns: 1, state: 1 }],
    [
      'collects a value after each turn',
      { until: { $cel: 'turn == 3' }, collect: { $cel: '{"after": turn, "state": state}' } },
      {
        turns: 3,
        state: 3,
        collected: [
          { after: 1, state: 1 },
          { after: 2, state: 2 },
          { after: 3, state: 3 },
        ],
      },
    ],
    ['ends exactly at its limit', { until: { $cel: 'turn == 7' }, max_iterations: 7 }, { turns: 7, state: 7 }],
  ])('%s', async (_what, args, expected) => {
    const id = await bench.run(loopOf({ body: counting, state: 0, max_iterations: 100, ...args }))
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: expected })
  })

  test('keeps its state if the body has no output, and sees nodes outside the loop', async () => {
    const definition: Definition = {
      nodes: [
        set('before', 2),
        {
          id: 'l',
          type: 'loop',
          args: {
            body: body([set('inside', { $cel: 'nodes.before.output.value * double(turn)' })]),
            state: { $ref: 'input.first' },
            until: { $cel: 'turn >= nodes.before.output.value' },
            max_iterations: 5,
          },
        },
      ],
      edges: [{ from: { node: 'before' }, to: 'l' }],
      output: { $ref: 'nodes.l.output' },
    }
    expect(await ended(await bench.run(definition, { first: 'kept' }))).toMatchObject({
      status: 'succeeded',
      results: { turns: 2, state: 'kept' },
    })
  })

  test.each<[string, JsonObject, JsonObject]>([
    [
      'that reaches its limit',
      { until: { $cel: 'false' }, max_iterations: 3 },
      { code: 'loop_limit', details: { turns: 3, state: 3 } },
    ],
    [
      'whose body fails',
      {
        body: body([{ id: 'f', type: 'fail', args: { code: 'no', message: 'not this one' } }]),
        until: { $cel: 'false' },
      },
      { code: 'no', message: 'not this one', details: { turn: 0, error: { code: 'no', node_id: 'f' } } },
    ],
    ['whose condition fails', { until: { $cel: 'state.nothing' } }, { code: 'expression_failed' }],
    ['whose condition is not a boolean', { until: { $cel: 'state' } }, { code: 'condition_not_boolean' }],
    ['whose delay is not a number', { until: { $cel: 'false' }, delay_s: { $cel: '"x"' } }, { code: 'args_invalid' }],
    [
      'whose limit is too high',
      { until: { $cel: 'true' }, max_iterations: { $cel: '10001' } },
      { code: 'args_invalid' },
    ],
    [
      'whose state grows too large',
      {
        body: body([echo({ $cel: 'state + state' })], { $ref: 'nodes.b.output' }),
        state: 'x'.repeat(100_000),
        until: { $cel: 'false' },
      },
      { code: 'result_too_large' },
    ],
  ])('%s fails, and can take the port error', async (_what, args, error) => {
    const given = { body: counting, state: 0, max_iterations: 100, ...args }
    expect(await ended(await bench.run(loopOf(given)))).toMatchObject({
      status: 'failed',
      error: { ...error, node_id: 'l' },
    })
    const routed: Definition = {
      nodes: [{ id: 'l', type: 'loop', args: given, on_error: 'route' }, set('after', { $ref: 'nodes.l.output.code' })],
      edges: [{ from: { node: 'l', port: 'error' }, to: 'after' }],
      output: { $ref: 'nodes.after.output.value' },
    }
    expect(await ended(await bench.run(routed))).toMatchObject({ status: 'succeeded', results: error.code })
  })

  test('that fails is retried from its first iteration', async () => {
    const failing = body([{ id: 's', type: 'second-time', args: { value: 1 } }])
    const args = { body: failing, until: { $cel: 'true' }, max_iterations: 1 }
    // The node in the body has no retry. The second attempt of the loop starts again with the first attempt of the
    // node.
    const definition = loopOf(args, { retry: { max_attempts: 2, backoff_s: 0 } })
    expect(await ended(await bench.run(definition))).toMatchObject({
      status: 'failed',
      error: { code: 'once', attempt: 2 },
    })
    const inner = body([{ id: 's', type: 'second-time', args: { value: 1 }, retry: { max_attempts: 2, backoff_s: 0 } }])
    expect(await ended(await bench.run(loopOf({ ...args, body: inner })))).toMatchObject({ status: 'succeeded' })
  })

  test('is ended by its timeout during a delay', async () => {
    const args = { body: counting, state: 0, until: { $cel: 'false' }, max_iterations: 10, delay_s: 600 }
    const id = await bench.run(loopOf(args, { timeout_s: 1.2 }))
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'timeout', node_id: 'l' } })
  })

  test('waits between its iterations, also while it is parked', async () => {
    const delays = { $cel: 'turn == 1 ? 1.3 : 0.05' }
    const args = { body: counting, state: 0, until: { $cel: 'state >= 3' }, max_iterations: 10, delay_s: delays }
    const id = await bench.run(loopOf(args))
    await until(id, 'waiting')
    const view = (await bench.engine.readExecution(bench.workspaceId, id)) as ExecutionView
    expect(view.waiting_for).toMatchObject([{ kind: 'timer', node_id: 'l' }])
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: { turns: 3, state: 3 } })
    const told = (await bench.engine.readEvents(bench.workspaceId, id, 0, 100)).filter(
      ({ type }) => type === 'node.progress',
    )
    expect(told.map(({ data }) => [data.turns, typeof data.until])).toEqual([
      [1, 'string'],
      [1, 'undefined'],
      [2, 'string'],
      [2, 'undefined'],
    ])
  })

  test('can ask people in each of its iterations', async () => {
    const asking = body([{ id: 'q', type: 'clarification', args: { question: 'More?' } }], { $ref: 'nodes.q.output' })
    const id = await bench.run(loopOf({ body: asking, until: { $cel: 'state == "enough"' }, max_iterations: 10 }))
    for (const [turn, answer] of ['more', 'more', 'enough'].entries()) {
      const nodePath = `l[${turn}].q`
      await expect
        .poll(
          async () => {
            const view = await bench.engine.readExecution(bench.workspaceId, id)
            return view?.status === 'waiting' && view.waiting_for[0]?.node_id
          },
          { interval: 10 },
        )
        .toBe(nodePath)
      await tell(id, nodePath, { type: 'clarification.answered', nodePath, answer, data: {} })
    }
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: { turns: 3, state: 'enough' } })
  })

  test('can be inside a map, contain a map, and contain a loop', async () => {
    const inner = body(
      [
        {
          id: 'inner',
          type: 'loop',
          args: {
            // `state` is the state of the nearest loop, `item` the item of the nearest map.
            body: body([echo({ $cel: 'state + item' })], { $ref: 'nodes.b.output' }),
            state: { $ref: 'state' },
            until: { $cel: 'turn == 2' },
            max_iterations: 2,
          },
        },
        {
          id: 'each',
          type: 'map',
          args: {
            items: [1, 2],
            body: body([set('s', { $cel: 'item * 10.0 + state' })], { $ref: 'nodes.s.output.value' }),
          },
        },
      ],
      { $cel: 'nodes.inner.output.state' },
    )
    const middle = body(
      [
        {
          id: 'outer',
          type: 'loop',
          args: { body: inner, state: 0, until: { $cel: 'turn == 2' }, max_iterations: 2, collect: { $cel: 'state' } },
        },
      ],
      { $ref: 'nodes.outer.output.collected' },
    )
    const definition: Definition = {
      nodes: [{ id: 'm', type: 'map', args: { items: [1, 100], body: middle } }],
      edges: [],
      output: { $ref: 'nodes.m.output' },
    }
    expect(await ended(await bench.run(definition))).toMatchObject({
      status: 'succeeded',
      results: [
        [2, 4],
        [200, 400],
      ],
    })
  })

  test('continues where it was, although its worker dies in every iteration', async () => {
    const dying = body([{ id: 'd', type: 'dying', args: { value: { $cel: 'state + 1.0' } } }], {
      $ref: 'nodes.d.output',
    })
    const args = {
      body: dying,
      state: 0,
      until: { $cel: 'state >= 6' },
      max_iterations: 10,
      collect: { $cel: 'state' },
    }
    const id = await bench.run(loopOf(args))
    expect(await ended(id)).toMatchObject({
      status: 'succeeded',
      results: { turns: 6, state: 6, collected: [1, 2, 3, 4, 5, 6] },
    })
    expect(done).toEqual([0, 1, 2, 3, 4, 5].map((turn) => `l[${turn}].d`))
  })

  test('with 10,000 iterations keeps rows of bounded size, and journals its progress at intervals', async () => {
    const args = {
      // The state is too large to be stored in the rows of all iterations.
      body: body([set('s', { $cel: 'turn' })], { turn: { $ref: 'nodes.s.output.value' }, pad: { $ref: 'input.pad' } }),
      until: { $cel: 'turn == 10000' },
      max_iterations: 10_000,
      collect: { $cel: 'state.turn + 0.5' },
    }
    const output = { $cel: '[nodes.l.output.turns, size(nodes.l.output.collected), nodes.l.output.collected[9999]]' }
    const id = await bench.run({ ...loopOf(args), output }, { pad: 'x'.repeat(4_000) })
    const view = (await bench.engine.waitFor(bench.workspaceId, id, 60 * SECOND)) as ExecutionView
    expect(view).toMatchObject({ status: 'succeeded', results: [10_000, 10_000, 9_999.5] })
    const rows = await rowsOf(id)
    expect(rows).toHaveLength(10_000)
    const states = rows.filter(({ output: kept }) => kept && Object.hasOwn(kept, 'state')).length
    expect(states * 4_000).toBeLessThan(9 * 1024 * 1024)
    expect(rows.at(-1)?.output).toMatchObject({ state: { turn: 9_999 } })
    const events = await bench.engine.readEvents(bench.workspaceId, id, 0, 1_000)
    expect(events.length).toBeLessThan(120)
  })
})
