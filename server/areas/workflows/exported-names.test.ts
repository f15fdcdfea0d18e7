import { beforeAll, expect, test } from 'vitest'
import { makeDataset } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const make = async (body: object): Promise<string> => {
  const { owner, guest } = world
  const members = [{ user_id: guest.id, role: 'viewer' }]
  const made = await owner.call('POST', '/api/workflows', { body: { members, ...body } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}

test('an export names the resources of the workspace to its members, but not to a guest', async () => {
  const { owner, guest, member } = world
  const plain = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
  const hidden = await make({ name: 'Hidden', definition: plain, members: [] })
  const shared = await make({ name: 'Shared', definition: plain })
  const dataset = await makeDataset(owner, [{ a: 1 }])
  const approvers = [
    { kind: 'user', id: member.id },
    { kind: 'user', id: guest.id },
  ]
  const id = await make({
    name: 'Whole',
    definition: {
      nodes: [
        { id: 'read', type: 'dataset.read', args: { dataset_id: dataset } },
        { id: 'one', type: 'subworkflow', args: { workflow_id: hidden, input: {} } },
        { id: 'two', type: 'subworkflow', args: { workflow_id: shared, input: {} } },
        { id: 'gate', type: 'approval', args: { title: 'Go?', payload: {}, policy: { approvers } } },
      ],
      edges: [],
    },
  })
  const exported = async (person: TestPerson) => {
    const { status, text, body } = await person.call('GET', `/api/workflows/${id}/export`)
    expect(status, text).toBe(200)
    return { names: body.names.map(({ name }: { name: string }) => name), warnings: body.warnings?.length ?? 0, text }
  }
  const whole = await exported(owner)
  expect(whole.names).toEqual(expect.arrayContaining(['Hidden', 'Shared', member.email, guest.email]))
  expect([whole.names.length, whole.warnings]).toEqual([5, 0])
  const seen = await exported(guest)
  expect([seen.names.sort(), seen.warnings]).toEqual([['Shared', guest.email].sort(), 3])
  expect(seen.text).not.toContain(member.email)
})
