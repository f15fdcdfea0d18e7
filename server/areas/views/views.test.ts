import { beforeEach, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { join, makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeEach(async () => {
  world = await makeWorld(service())
})

const broken = { list: 'runs', name: 'Broken', filters: { status: 'failed,timed_out' } }
const mine = { list: 'workflows', name: 'Broken', filters: { scope: 'own' } }

test('views are stored per person and workspace, in their order, and no other user sees them', async () => {
  const { viewer, workspace, elsewhere } = world
  expect((await viewer.call('GET', '/api/views')).body).toEqual({ views: [] })
  const set = await viewer.call('PUT', '/api/views', { body: { views: [mine, broken] } })
  expect([set.status, set.body]).toEqual([200, { views: [mine, broken] }])
  expect((await viewer.call('GET', '/api/views')).body).toEqual({ views: [mine, broken] })
  expect((await world.owner.call('GET', '/api/views')).body).toEqual({ views: [] })
  await join(service(), elsewhere, viewer, 'viewer')
  const there = await viewer.call('GET', '/api/views', { headers: { 'x-workspace-id': elsewhere.id } })
  expect(there.body).toEqual({ views: [] })

  const headers = { 'x-workspace-id': workspace.id }
  expect((await viewer.call('PUT', '/api/views', { headers, body: { views: [] } })).body).toEqual({ views: [] })
})

test.each([
  ['two of the same name', [broken, broken], '/views'],
  ['more than fifty', Array.from({ length: 51 }, (_, at) => ({ ...broken, name: `V${at}` })), '/views'],
  ['a list that the console does not have', [{ ...broken, list: 'stars' }], '/views/0/list'],
  ['no name', [{ ...broken, name: ' ' }], '/views/0/name'],
  ['filters that are no text', [{ ...broken, filters: { status: 5 } }], '/views/0/filters/status'],
  ['a long filter', [{ ...broken, filters: { status: 'x'.repeat(201) } }], '/views/0/filters/status'],
  [
    'many filters',
    [{ ...broken, filters: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, 'x'])) }],
    '/views/0/filters',
  ],
])('%s is refused and changes nothing', async (_what, views, path) => {
  const { owner } = world
  await owner.call('PUT', '/api/views', { body: { views: [broken] } })
  const refused = await owner.call('PUT', '/api/views', { body: { views } })
  expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([422, path])
  expect((await owner.call('GET', '/api/views')).body).toEqual({ views: [broken] })
})

test('views are deleted with the membership', async () => {
  const { member: person } = world
  await person.call('PUT', '/api/views', { body: { views: [broken] } })
  const path = `/api/workspaces/${world.workspace.id}/members/${person.id}`
  expect((await world.owner.call('DELETE', path)).status).toBe(204)
  await join(service(), world.workspace, person, 'member')
  expect((await person.call('GET', '/api/views')).body).toEqual({ views: [] })
})
