import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const save = async (nodes: unknown[]) => {
  const { status, body } = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'W', definition: { nodes, edges: [] } },
  })
  expect(status).toBe(201)
  return body.warnings
}

test('a placeholder of another tool is saved with a warning that names it and its place', async () => {
  const inner = { nodes: [{ id: 'b', type: 'set', args: { values: { c: 'no {{ item.id }}' } } }], edges: [] }
  expect(
    await save([
      { id: 'a', type: 'http.request', args: { url: 'https://{{input.host}}/x' } },
      { id: 'm', type: 'map', args: { items: [1], body: inner } },
    ]),
  ).toEqual([
    {
      path: '/definition/nodes/0/args/url',
      message: 'The text {{input.host}} is not replaced. Use an expression ($cel) for the whole value.',
    },
    {
      path: '/definition/nodes/1/args/body/nodes/0/args/values/c',
      message: 'The text {{ item.id }} is not replaced. Use an expression ($cel) for the whole value.',
    },
  ])
})

test('other braces, and expressions, are saved without a warning', async () => {
  const values = { a: '{{#each}}', b: '{{name}}', c: { $cel: '"{" + string(input.n)' }, d: '{input.x}' }
  expect(await save([{ id: 'a', type: 'set', args: { values } }])).toBeUndefined()
})
