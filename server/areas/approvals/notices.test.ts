import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
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

/** Waits until the service has looked at the gates after people have joined or left. */
const rechecked = () =>
  until(
    async () =>
      (await service().sql('select from gate_rechecks where workspace_id = $1', [world.workspace.uuid])).length === 0,
    'no gate left to check',
  )

async function makeTeam(...people: TestPerson[]) {
  const { body } = await world.owner.call('POST', '/api/teams', { body: { name: 'Finance' } })
  const path = `/api/teams/${body.team_id}`
  const team = {
    line: { kind: 'team', id: body.team_id as string },
    async add(...others: TestPerson[]): Promise<void> {
      const user_ids = others.map(({ id }) => id)
      expect((await world.owner.call('POST', `${path}/add_users`, { body: { user_ids } })).status).toBe(200)
      await rechecked()
    },
    async remove({ id }: TestPerson): Promise<void> {
      expect((await world.owner.call('DELETE', `${path}/members/${id}`)).status).toBe(204)
      await rechecked()
    },
  }
  if (people.length > 0) await team.add(...people)
  return team
}

const kindsOf = async (who: TestPerson, gate: Gate): Promise<string[]> =>
  (await noticesOf(who, gate)).map(({ kind }) => kind)

const vote = (who: TestPerson, { request_id, payload_sha256 }: Gate) =>
  who.call('POST', `/api/approvals/${request_id}/votes`, { body: { decision: 'approve', payload_sha256 } })

describe('a person who may vote only after the gate was opened', () => {
  test('gets the same notice as the others, once, and the others get no other one', async () => {
    const [first, late, later] = [await colleague(), await colleague(), await colleague()]
    const team = await makeTeam(first)
    const gate = await openGate([team.line], { due_in_s: 3600 })
    await team.add(late)
    const asked = (await noticesOf(first, gate)).map(({ kind, title, body, link, data }) => ({
      kind,
      title,
      body,
      link,
      data,
    }))
    expect(asked).toMatchObject([
      { kind: 'approval.requested', title: 'Your vote is needed: Pay?', body: `Due ${gate.due_at}` },
    ])
    expect(await noticesOf(late, gate)).toMatchObject(asked)
    await team.remove(late)
    await team.add(late, later)
    for (const who of [first, late, later]) expect(await kindsOf(who, gate)).toEqual(['approval.requested'])
  })

  test('is notified after joining the workspace with a role of the gate, or after getting this role', async () => {
    const promoted = await colleague('viewer')
    const gate = await openGate([{ kind: 'role', id: 'member' }])
    const joined = await colleague()
    await addMember(service(), world.workspace, promoted, 'member')
    await rechecked()
    for (const who of [joined, promoted]) expect(await kindsOf(who, gate)).toEqual(['approval.requested'])
  })

  test('is not notified if the gate is settled, if they led to the execution, or if an older release opened the gate', async () => {
    const [first, late] = [await colleague(), await colleague()]
    const team = await makeTeam(first)
    const [settled, old, open] = [await openGate([team.line]), await openGate([team.line]), await openGate([team.line])]
    expect((await vote(first, settled)).status).toBe(201)
    await service().sql('update approval_requests set notified = null where request_id = $1', [
      fromWire('apr', old.request_id),
    ])
    await team.add(late, world.owner)
    expect(await kindsOf(late, open)).toEqual(['approval.requested'])
    for (const gate of [settled, old]) expect(await noticesOf(late, gate)).toEqual([])
    expect(await noticesOf(world.owner, open)).toEqual([])
  })

  test('is notified of a delegated vote once, and the first voter again when the vote comes back', async () => {
    const [voter, delegated] = [await colleague(), await colleague()]
    const gate = await openGate([person(voter)])
    await delegate(voter, gate, delegated)
    await colleague()
    await rechecked()
    expect(await kindsOf(delegated, gate)).toEqual(['approval.delegated'])
    expect(await kindsOf(voter, gate)).toEqual(['approval.requested'])
    await service().sql('delete from memberships where user_id = $1', [delegated.uuid])
    await rechecked()
    expect(await kindsOf(voter, gate)).toEqual(['approval.requested', 'approval.requested'])
  })

  test('is notified again after coming back to a gate that nobody could approve without them', async () => {
    const only = await colleague()
    const team = await makeTeam(only)
    const gate = await openGate([team.line])
    await team.remove(only)
    expect(await kindsOf(world.owner, gate)).toContain('approval.unsatisfiable')
    await team.add(only)
    expect(await kindsOf(only, gate)).toEqual(['approval.requested', 'approval.requested'])
  })
})

test('the notice of a delegated vote has the due time, like the first notice', async () => {
  const [voter, delegated] = [await colleague(), await colleague()]
  const gate = await openGate([person(voter)], { due_in_s: 3600 })
  expect((await delegate(voter, gate, delegated)).status).toBe(200)
  const due = { body: `Due ${gate.due_at}`, link: `/approvals/${gate.request_id}` }
  expect(await noticesOf(voter, gate)).toMatchObject([{ kind: 'approval.requested', ...due }])
  expect(await noticesOf(delegated, gate)).toMatchObject([{ kind: 'approval.delegated', ...due }])
})
