import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { masked } from './node.ts'

const service = useSharedService()
let world: World

beforeAll(async () => {
  world = await makeWorld(service())
})

async function run(definition: object, input: object = {}, waitS = 30): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Shown', definition } })
  expect(made.status, made.text).toBe(201)
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=${waitS}`, {
    body: { input },
  })
  return ran.body.execution_id
}
const node = (execution: string, path: string, query = ''): Promise<Answer> =>
  world.owner.call('GET', `/api/workflows/executions/${execution}/nodes/${encodeURIComponent(path)}${query}`)

describe('a node of an execution', () => {
  test('shows its input and its output', async () => {
    const execution = await run(
      {
        nodes: [
          { id: 'a', type: 'set', args: { values: { n: { $ref: 'input.n' } } } },
          {
            id: 'b',
            type: 'code',
            args: { source: 'return input.n + 1', input: { n: { $cel: 'nodes.a.output.n * 2.0' }, password: 'hush' } },
          },
        ],
        edges: [{ from: { node: 'a' }, to: 'b' }],
      },
      { n: 4 },
    )
    const { body, text } = await node(execution, 'b')
    expect(body, text).toMatchObject({
      node_id: 'b',
      type: 'code',
      status: 'succeeded',
      input: { source: 'return input.n + 1', input: { n: 8, password: '•••' } },
      input_error: null,
      attempts: [{ attempt: 1, status: 'succeeded', output: 9, started_at: expect.any(String) }],
      items: [],
      next_cursor: null,
    })
  })

  test('shows each attempt', async () => {
    const retry = { max_attempts: 2, backoff_s: 0.01 }
    const execution = await run({
      nodes: [{ id: 'c', type: 'code', args: { source: 'throw new Error("no")' }, retry, on_error: 'continue' }],
      edges: [],
    })
    expect((await node(execution, 'c')).body.attempts).toMatchObject([
      { attempt: 1, status: 'failed', error: { code: 'code_failed' }, next_attempt_at: expect.any(String) },
      { attempt: 2, status: 'failed', error: { code: 'code_failed' } },
    ])
  })

  test('shows the items of a map and the turns of a loop, page by page', async () => {
    const body = {
      nodes: [{ id: 's', type: 'set', args: { values: { v: { $ref: 'index' } } } }],
      edges: [],
      output: { $ref: 'nodes.s.output.v' },
    }
    const turns = { nodes: [], edges: [], output: { $cel: 'turn + 10.0' } }
    const loop = { body: turns, until: { $cel: 'turn == 3' }, max_iterations: 3, collect: { $cel: 'state * 2.0' } }
    const execution = await run({
      nodes: [
        { id: 'm', type: 'map', args: { items: ['a', 'b', 'c'], body } },
        { id: 'l', type: 'loop', args: loop },
      ],
      edges: [],
    })
    const first = await node(execution, 'm', '?limit=2')
    expect(first.body.items).toMatchObject([
      { index: 0, status: 'succeeded', output: 0 },
      { index: 1, status: 'succeeded', output: 1 },
    ])
    const rest = await node(execution, 'm', `?limit=2&cursor=${first.body.next_cursor}`)
    expect(rest.body).toMatchObject({ items: [{ index: 2, output: 2 }], next_cursor: null })
    expect((await node(execution, 'l')).body.items).toMatchObject([
      { index: 0, output: 10, collected: 20 },
      { index: 1, output: 11, collected: 22 },
      { index: 2, output: 12, collected: 24 },
    ])
  })

  test('shows the progress of a body’s nodes for one item, and the port by which they ended', async () => {
    const body = {
      nodes: [
        { id: 'way', type: 'branch', args: { cases: [{ port: 'big', when: { $cel: 'item > 1.0' } }] } },
        { id: 'big', type: 'set', args: { values: { secret: 'large' } } },
      ],
      edges: [{ from: { node: 'way', port: 'big' }, to: 'big' }],
      output: null,
    }
    const execution = await run({
      nodes: [
        { id: 'm', type: 'map', args: { items: [1, 2], body } },
        { id: 'b', type: 'branch', args: { cases: [{ port: 'yes', when: { $cel: 'true' } }] } },
      ],
      edges: [],
    })
    const whole = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    const ports = whole.body.nodes.map(({ node_id, port }: { node_id: string; port?: string }) => [node_id, port])
    expect(Object.fromEntries(ports)).toEqual({ m: undefined, b: 'yes' })
    expect((await node(execution, 'm')).body.body).toBeNull()
    expect((await node(execution, 'm', '?item=0')).body.body).toMatchObject({
      index: 0,
      last: 1,
      nodes: [
        { node_id: 'way', status: 'succeeded', port: 'default' },
        { node_id: 'big', status: 'skipped' },
      ],
    })
    const second = (await node(execution, 'm', '?item=1')).body.body
    expect(second.nodes).toMatchObject([
      { node_id: 'way', port: 'big' },
      { node_id: 'big', status: 'succeeded' },
    ])
    expect(second.nodes[1]).not.toHaveProperty('output')
    expect((await node(execution, 'm', '?item=2')).body.body).toBeNull()
    expect((await node(execution, 'b', '?item=0')).body.body).toBeNull()
    expect((await node(execution, 'm', '?item=-1')).status).toBe(422)
  })

  test('inside a finished item or turn is shown with its input', async () => {
    const sum = {
      nodes: [
        {
          id: 's',
          type: 'code',
          args: { source: 'return input.a + input.b', input: { a: { $ref: 'state' }, b: { $ref: 'item' } } },
        },
      ],
      edges: [],
      output: { $ref: 'nodes.s.output' },
    }
    const loop = { body: sum, until: { $cel: 'turn == 2' }, max_iterations: 2, state: { $ref: 'nodes.one.output.n' } }
    const each = { nodes: [{ id: 'l', type: 'loop', args: loop }], edges: [], output: { $ref: 'nodes.l.output.state' } }
    const execution = await run({
      nodes: [
        { id: 'one', type: 'set', args: { values: { n: 1 } } },
        { id: 'm', type: 'map', args: { items: [10, 20], body: each } },
      ],
      edges: [{ from: { node: 'one' }, to: 'm' }],
    })
    expect((await node(execution, 'm[1].l[1].s')).body).toMatchObject({
      node_id: 'm[1].l[1].s',
      type: 'code',
      status: 'succeeded',
      input: { input: { a: 21, b: 20 } },
      input_error: null,
      attempts: [{ attempt: 1, status: 'succeeded', output: 41, finished_at: expect.any(String) }],
    })
    expect((await node(execution, 'm[1].l')).body).toMatchObject({
      type: 'loop',
      input: { state: 1 },
      items: [
        { index: 0, output: 21 },
        { index: 1, output: 41 },
      ],
    })
    for (const path of ['m[2].l', 'm#2[0].l', 'm[0].l[2].s', 'm[0].s', 'one[0].s'])
      expect([path, (await node(execution, path)).status]).toEqual([path, 404])
  })

  test('inside a large map is kept for the first thousand items and for those that failed', async () => {
    const body = {
      nodes: [
        { id: 's', type: 'set', args: { values: { v: { $ref: 'item' } } } },
        { id: 'f', type: 'fail', args: { code: 'no', message: 'no' } },
      ],
      edges: [{ from: { node: 's' }, to: 'f', when: { $cel: 'index == 1001' } }],
    }
    const items = { $cel: 'lists.range(1003)' }
    const args = { items, body, on_item_error: 'collect' }
    const execution = await run({ nodes: [{ id: 'm', type: 'map', args }], edges: [] })
    expect((await node(execution, 'm[999].s')).body).toMatchObject({
      input: { values: { v: 999 } },
      attempts: [{ output: { v: 999 } }],
    })
    expect((await node(execution, 'm[1000].s')).status).toBe(404)
    expect((await node(execution, 'm[1001].f')).body).toMatchObject({ status: 'failed', input: { code: 'no' } })
  })

  test('is shown without its arguments if they are larger than 1 MiB', async () => {
    const execution = await run(
      {
        nodes: [{ id: 'a', type: 'set', args: { values: { x: { $ref: 'input.x' }, y: { $ref: 'input.x' } } } }],
        edges: [],
      },
      { x: 'x'.repeat(600_000) },
    )
    expect((await node(execution, 'a')).body).toMatchObject({
      status: 'succeeded',
      input: null,
      input_error: 'The arguments are larger than 1 MiB.',
    })
  })

  test('inside a map is shown while its item is unfinished', async () => {
    const body = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] }
    const execution = await run({ nodes: [{ id: 'm', type: 'map', args: { items: [1], body } }], edges: [] }, {}, 0)
    await until(async () => {
      const { body: found } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
      return found.status === 'waiting'
    }, 'the wait')
    expect((await node(execution, 'm[0].w')).body).toMatchObject({ node_id: 'm[0].w', type: 'wait', status: 'waiting' })
    expect((await node(execution, 'm[7].w')).status).toBe(404)
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
  })

  test.each(['nothing', 'a.b', '[0]', 'a[', `${'a'.repeat(300)}`])('called %s does not exist', async (path) => {
    const execution = await run({ nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] })
    expect((await node(execution, path)).status).toBe(404)
  })
})

test.each([
  [{ headers: { Authorization: 'Bearer x', accept: 'json' } }, { headers: { Authorization: '•••', accept: 'json' } }],
  [
    { api_key: 'k', 'x-api-key': 'k', apikey: 'k' },
    { api_key: '•••', 'x-api-key': '•••', apikey: '•••' },
  ],
  [{ client_secret: ['a', 'b'] }, { client_secret: ['•••', '•••'] }],
  [
    { max_tokens: 5, token: '' },
    { max_tokens: 5, token: '' },
  ],
])('values with a name like a secret are masked: %j', (value, expected) => {
  expect(masked(value as never)).toEqual(expected)
})
