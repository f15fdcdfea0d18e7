import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Whom a gate notifies, when and of what.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Gate = { request_id: string; payload_sha256: string; due_at: string | null }

const person = ({ id }: TestPerson) => ({ kind: 'user', id })

async function colleague(role: 'member' | 'viewer' = 'member'): Promise<TestPerson> {
  const made = await makePerson(service())
  await addMember(service(), world.workspace, made, role)
  return made
}

async function openGate(approvers: unknown[], more: Record<string, unknown> = {}): Promise<Gate> {
  const args = { title: 'Pay?', payload: { amount: 5 }, policy: { approvers, ...more } }
  const definition = { nodes: [{ id: 'gate', type: 'approval', args }], edges: [] }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })
  expect(made.status, made.text).toBe(201)
  const { body } = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
  const path = `/api/workflows/executions/${body.execution_id}/approvals`
  return until(async () => (await world.owner.call('GET', path)).body.items[0] as Gate | undefined, 'the gate')
}

type Notice = { kind: string; title: string; body: string | null; link: string; data: { request_id?: string } }

/** Returns the notices of the person about the gate, oldest first. */
const noticesOf = async (who: TestPerson, { request_id }: Gate): Promise<Notice[]> => {
  const { items } = (await who.call('GET', '/api/notifications?limit=200')).body as { items: Notice[] }
  return items.filter(({ data }) => data.request_id === request_id).toReversed()
}

const delegate = (from: TestPerson, { request_id }: Gate, to: TestPerson) =>
  from.call('POST', `/api/approvals/${request_id}/delegate`, { body: { user_id: to.id } })

test('the notice of a delegated vote has the due time, like the first notice', async () => {
  const [voter, delegated] = [await colleague(), await colleague()]
  const gate = await openGate([person(voter)], { due_in_s: 3600 })
  expect((await delegate(voter, gate, delegated)).status).toBe(200)
  const due = { body: `Due ${gate.due_at}`, link: `/approvals/${gate.request_id}` }
  expect(await noticesOf(voter, gate)).toMatchObject([{ kind: 'approval.requested', ...due }])
  expect(await noticesOf(delegated, gate)).toMatchObject([{ kind: 'approval.delegated', ...due }])
})
