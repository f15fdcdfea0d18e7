import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World

beforeEach(async () => {
  world = await makeWorld(service())
})

async function workflow(definition: object): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Remembers', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
async function run(workflowId: string, input: object = {}): Promise<Answer['body']> {
  const ran = await world.owner.call('POST', `/api/workflows/${workflowId}/run?wait_s=60`, { body: { input } })
  expect(ran.status, ran.text).toBe(200)
  return ran.body
}
const stateOf = async (workflowId: string, query = ''): Promise<Answer['body'][]> =>
  (await world.owner.call('GET', `/api/workflows/${workflowId}/state${query}`)).body.items

/** Increments a stored number. */
const counting = {
  nodes: [
    { id: 'get', type: 'state.get', args: { key: 'count', default: 0 } },
    {
      id: 'set',
      type: 'state.set',
      args: {
        key: 'count',
        value: { $cel: 'nodes.get.output.value + 1.0' },
        if_version: { $ref: 'nodes.get.output.version' },
      },
    },
  ],
  edges: [{ from: { node: 'get' }, to: 'set' }],
  output: { $ref: 'nodes.get.output.value' },
}
const setting = {
  nodes: [
    {
      id: 'set',
      type: 'state.set',
      args: { key: { $ref: 'input.key' }, value: { $ref: 'input.value' }, if_version: { $ref: 'input.if_version' } },
    },
  ],
  edges: [],
  output: { $ref: 'nodes.set.output.version' },
}
const plain = {
  nodes: [{ id: 'set', type: 'state.set', args: { key: { $ref: 'input.key' }, value: { $ref: 'input.value' } } }],
  edges: [],
}

describe('the state of a workflow', () => {
  test('contains the values that its executions stored, separate from other workflows', async () => {
    const [one, other] = [await workflow(counting), await workflow(counting)]
    expect([(await run(one)).results, (await run(one)).results, (await run(one)).results]).toEqual([0, 1, 2])
    expect((await run(other)).results).toBe(0)
    const [entry] = await stateOf(one)
    expect(entry).toMatchObject({ key: 'count', value: 3, bytes: 1, execution_id: expect.stringMatching(/^exe_/) })
  })

  test('is set only if its version has not changed', async () => {
    const id = await workflow(setting)
    const first = await run(id, { key: 'k', value: 'a', if_version: 0 })
    expect(first).toMatchObject({ status: 'succeeded' })
    expect(await run(id, { key: 'k', value: 'b', if_version: 0 })).toMatchObject({
      status: 'failed',
      error: { code: 'state_conflict', details: { version: first.results } },
    })
    expect(await run(id, { key: 'k', value: 'b', if_version: first.results })).toMatchObject({ status: 'succeeded' })
    expect(await run(id, { key: 'k', value: 'c', if_version: first.results })).toMatchObject({
      status: 'failed',
      error: { code: 'state_conflict' },
    })
    // A key that was deleted and set again never has an old version.
    const plainId = await workflow(plain)
    await run(plainId, { key: 'x', value: 1 })
    const [{ version: before }] = await stateOf(plainId)
    await run(plainId, { key: 'x', value: null })
    expect(await stateOf(plainId)).toEqual([])
    await run(plainId, { key: 'x', value: 1 })
    expect((await stateOf(plainId))[0].version).toBeGreaterThan(before)
  })

  test('is set by one of several simultaneous executions', async () => {
    const id = await workflow(setting)
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, n) => run(id, { key: 'lock', value: n, if_version: 0 })),
    )
    expect(runs.filter(({ status }) => status === 'succeeded')).toHaveLength(1)
    expect(runs.filter(({ error }) => error?.code === 'state_conflict')).toHaveLength(7)
  })

  test.each([
    ['a value that is too large', { key: 'k', value: 'x'.repeat(64 * 1024) }, 'state_too_large'],
    ['a key with forbidden characters', { key: 'a b', value: 1 }, 'args_invalid'],
    ['a key that is too long', { key: 'k'.repeat(129), value: 1 }, 'args_invalid'],
    ['an empty key', { key: '', value: 1 }, 'args_invalid'],
  ])('refuses %s', async (_what, input, code) => {
    const id = await workflow(plain)
    expect(await run(id, input)).toMatchObject({ status: 'failed', error: { code } })
    expect(await stateOf(id)).toEqual([])
  })

  test('has a limit for the total size of its values', async () => {
    const id = await workflow({
      nodes: [
        {
          id: 'all',
          type: 'map',
          args: {
            items: { $ref: 'input.items' },
            concurrency: 1,
            on_item_error: 'collect',
            body: {
              nodes: [
                {
                  id: 'set',
                  type: 'state.set',
                  args: { key: { $cel: '"k" + string(item)' }, value: { $ref: 'input.pad' } },
                },
              ],
              edges: [],
              output: 'stored',
            },
          },
        },
      ],
      edges: [],
      output: { $cel: 'nodes.all.output.filter(one, one == "stored").size()' },
    })
    const items = Array.from({ length: 70 }, (_, n) => n)
    // 4 MiB have room for 65 values of 63 KiB plus two quotes.
    expect((await run(id, { items, pad: 'x'.repeat(63 * 1024) })).results).toBe(65)
  })

  test('is paged, and can be deleted by key or all at once', async () => {
    const id = await workflow(plain)
    for (const key of ['b', 'a:2', 'a:1']) await run(id, { key, value: key })
    const { body } = await world.owner.call('GET', `/api/workflows/${id}/state?limit=2`)
    expect(body.items.map(({ key }: Answer['body']) => key)).toEqual(['a:1', 'a:2'])
    const rest = await world.owner.call('GET', `/api/workflows/${id}/state?limit=2&cursor=${body.next_cursor}`)
    expect(rest.body.items.map(({ key }: Answer['body']) => key)).toEqual(['b'])
    expect((await stateOf(id, '?prefix=a:')).map(({ key }) => key)).toEqual(['a:1', 'a:2'])
    expect((await world.owner.call('DELETE', `/api/workflows/${id}/state/b`)).status).toBe(204)
    expect((await world.owner.call('DELETE', `/api/workflows/${id}/state/b`)).status).toBe(404)
    expect((await world.owner.call('DELETE', `/api/workflows/${id}/state`)).body).toEqual({ deleted: 2 })
    expect(await stateOf(id)).toEqual([])
  })

  test('is not exported, and is deleted with the workflow', async () => {
    const id = await workflow(plain)
    await run(id, { key: 'secretly', value: 1 })
    const exported = await world.owner.call('GET', `/api/workflows/${id}/export`)
    expect(exported.text).not.toContain('secretly')
    expect((await world.owner.call('DELETE', `/api/workflows/${id}`)).status).toBe(204)
    expect((await world.owner.call('GET', `/api/workflows/${id}/state`)).status).toBe(404)
  })
})
