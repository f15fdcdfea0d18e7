import { beforeEach, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { addMember, makeWorld, type World } from '#test/harness/world'

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
  await addMember(service(), elsewhere, viewer, 'viewer')
  const there = await viewer.call('GET', '/api/views', { headers: { 'x-workspace-id': elsewhere.id } })
  expect(there.body).toEqual({ views: [] })

  const headers = { 'x-workspace-id': workspace.id }
  expect((await viewer.call('PUT', '/api/views', { headers, body: { views: [] } })).body).toEqual({ views: [] })
})

test.each([
  ['a list with two views of the same name', [broken, broken], '/views'],
  ['a list of more than fifty views', Array.from({ length: 51 }, (_, at) => ({ ...broken, name: `V${at}` })), '/views'],
  ['a view of an unknown list', [{ ...broken, list: 'stars' }], '/views/0/list'],
  ['a view without a name', [{ ...broken, name: ' ' }], '/views/0/name'],
  ['a filter that is not a text', [{ ...broken, filters: { status: 5 } }], '/views/0/filters/status'],
  ['a filter that is too long', [{ ...broken, filters: { status: 'x'.repeat(201) } }], '/views/0/filters/status'],
  [
    'a view with too many filters',
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
  await addMember(service(), world.workspace, person, 'member')
  expect((await person.call('GET', '/api/views')).body).toEqual({ views: [] })
})
