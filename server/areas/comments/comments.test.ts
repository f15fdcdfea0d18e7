import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let colleague: TestPerson
let workflow_id: string
let path: string

beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Grace' })
  await addMember(service(), world.workspace, colleague, 'member')
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Orders', definition: { nodes: [], edges: [] } },
  })
  workflow_id = made.body.workflow_id
  path = `/api/workflows/${workflow_id}/comments`
  const body = { members: [{ user_id: colleague.id, role: 'viewer' }] }
  expect((await world.owner.call('PATCH', `/api/workflows/${workflow_id}`, { body })).status).toBe(200)
})

const kindsOf = async (person: TestPerson) =>
  (await person.call('GET', '/api/notifications?limit=50')).body.items
    .map(({ kind, title }: { kind: string; title: string }) => [kind, title])
    .filter(([kind]: string[]) => kind!.startsWith('comment.'))

describe('a comment', () => {
  test('notifies the people it mentions and the owner of the workflow', async () => {
    const said = await world.owner.call('POST', path, {
      body: { body: ' Does it wait long enough? ', node_id: 'wait', mentions: [colleague.id, colleague.id] },
    })
    expect(said.body).toMatchObject({ body: 'Does it wait long enough?', node_id: 'wait', mentions: [colleague.id] })
    expect(await kindsOf(colleague)).toEqual([['comment.mentioned', expect.stringContaining('on Orders')]])
    await colleague.call('POST', path, { body: { body: 'Yes.' } })
    expect(await kindsOf(world.owner)).toEqual([['comment.added', 'Grace commented on Orders']])
  })

  test('cannot mention a person who cannot see the workflow', async () => {
    for (const person of [world.member, world.stranger]) {
      const answer = await world.owner.call('POST', path, { body: { body: 'Hello', mentions: [person.id] } })
      expect([answer.status, answer.body.errors[0].path]).toEqual([422, '/mentions/0'])
      expect(await kindsOf(person)).toEqual([])
    }
  })

  test('is changed only by its author, can be resolved by every reader, and is found by its resolved state', async () => {
    const { comment_id } = (await colleague.call('POST', path, { body: { body: 'Rename it' } })).body
    const one = `${path}/${comment_id}`
    expect((await world.owner.call('PATCH', one, { body: { body: 'Mine' } })).status).toBe(403)
    expect((await colleague.call('PATCH', one, { body: { body: 'Rename it, please' } })).body.body).toBe(
      'Rename it, please',
    )
    expect((await world.owner.call('POST', `${one}/resolve`, { body: { resolved: true } })).body).toMatchObject({
      resolved_by: world.owner.id,
      resolved_at: expect.any(String),
    })
    const done = async () => (await world.owner.call('GET', `${path}?resolved=true`)).body.items.length
    expect(await done()).toBe(1)
    await colleague.call('POST', `${one}/resolve`, { body: { resolved: false } })
    expect(await done()).toBe(0)
    expect((await world.owner.call('DELETE', one)).status).toBe(204)
    expect((await colleague.call('GET', one)).status).toBe(404)
  })

  test.each([
    ['only spaces', { body: '   ' }],
    ['a text that is too long', { body: 'x'.repeat(4001) }],
    ['an invalid mention', { body: 'x', mentions: ['somebody'] }],
  ])('with %s is refused', async (_what, body) => {
    expect((await world.owner.call('POST', path, { body })).status).toBe(422)
  })
})
