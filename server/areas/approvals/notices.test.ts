import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire, toWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Whom a gate or question notifies, when and of what.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Question = { path: string; clarification_id: string }
type Gate = { request_id: string; payload_sha256: string; due_at: string | null }

const person = ({ id }: TestPerson) => ({ kind: 'user', id })

async function colleague(role: 'member' | 'viewer' | 'owner' = 'member'): Promise<TestPerson> {
  const made = await makePerson(service())
  await addMember(service(), world.workspace, made, role)
  return made
}

/** Starts a workflow with this node, and returns the path of its execution. */
async function start(node: Record<string, unknown>): Promise<string> {
  const definition = { nodes: [node], edges: [] }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })
  expect(made.status, made.text).toBe(201)
  const { body } = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
  return `/api/workflows/executions/${body.execution_id}`
}

async function openGate(approvers: unknown[], more: Record<string, unknown> = {}): Promise<Gate> {
  const args = { title: 'Pay?', payload: { amount: 5 }, policy: { approvers, ...more } }
  const path = `${await start({ id: 'gate', type: 'approval', args })}/approvals`
  return until(async () => (await world.owner.call('GET', path)).body.items[0] as Gate | undefined, 'the gate')
}

type Notice = {
  kind: string
  title: string
  body: string | null
  link: string
  data: { execution_id?: string; request_id?: string; clarification_id?: string }
}

const allNoticesOf = async (who: TestPerson): Promise<Notice[]> =>
  (await who.call('GET', '/api/notifications?limit=200')).body.items

type Matter = Pick<Gate, 'request_id'> | Pick<Question, 'clarification_id'>

/** Returns the notices of the person about the gate or question, oldest first. */
async function noticesOf(who: TestPerson, matter: Matter): Promise<Notice[]> {
  const id = 'request_id' in matter ? matter.request_id : matter.clarification_id
  return (await allNoticesOf(who))
    .filter(({ data }) => data.request_id === id || data.clarification_id === id)
    .toReversed()
}

/** Returns what a notice says, without what belongs to one person. */
const contentOf = ({ kind, title, body, link, data }: Notice): Notice => ({ kind, title, body, link, data })

const delegate = (from: TestPerson, { request_id }: Gate, to: TestPerson) =>
  from.call('POST', `/api/approvals/${request_id}/delegate`, { body: { user_id: to.id } })

/** Waits until the service has looked at the gates and questions after people have joined or left. */
const rechecked = () =>
  until(
    async () =>
      (await service().sql('select from gate_rechecks where workspace_id = $1', [world.workspace.uuid])).length === 0,
    'nothing left to check',
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

const kindsOf = async (who: TestPerson, matter: Matter): Promise<string[]> =>
  (await noticesOf(who, matter)).map(({ kind }) => kind)

const vote = (who: TestPerson, { request_id, payload_sha256 }: Gate) =>
  who.call('POST', `/api/approvals/${request_id}/votes`, { body: { decision: 'approve', payload_sha256 } })

describe('a person who may vote only after the gate was opened', () => {
  test('gets the same notice as the others, once, and the others get no other one', async () => {
    const [first, late, later] = [await colleague(), await colleague(), await colleague()]
    const team = await makeTeam(first)
    const gate = await openGate([team.line], { due_in_s: 3600 })
    await team.add(late)
    const asked = (await noticesOf(first, gate)).map(contentOf)
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

const question = (who: unknown[] | null, more: Record<string, unknown> = {}) => ({
  id: 'ask',
  type: 'clarification',
  args: { question: 'Which colour?', schema: { type: 'string' }, ...(who && { who }), ...more },
})

async function ask(who: unknown[] | null, more: Record<string, unknown> = {}): Promise<Question> {
  const path = await start(question(who, more))
  const find = () =>
    service().sql<{ clarification_id: string }>('select clarification_id from questions where execution_id = $1', [
      fromWire('exe', path.split('/').at(-1)!),
    ])
  const { clarification_id } = await until(async () => (await find())[0], 'the question')
  return { path, clarification_id: toWire('clr', clarification_id) }
}

const uuidOf = ({ clarification_id }: Question): string => fromWire('clr', clarification_id)!

const ended = ({ path }: Question) =>
  until(async () => (await world.owner.call('GET', path)).body.status !== 'waiting', 'the end')

describe('a person who may answer only after the question was asked', () => {
  test('gets the same notice as the others, once, and the others get no other one', async () => {
    const [first, late, later] = [await colleague(), await colleague(), await colleague()]
    const team = await makeTeam(first)
    const asked = await ask([team.line], { due_in_s: 3600 })
    await team.add(late)
    const notices = (await noticesOf(first, asked)).map(contentOf)
    expect(notices).toMatchObject([
      {
        kind: 'clarification.asked',
        title: 'A question for you: Which colour?',
        body: expect.stringMatching(/^Due 20/),
      },
    ])
    expect(await noticesOf(late, asked)).toMatchObject(notices)
    await team.remove(late)
    await team.add(late, later)
    for (const who of [first, late, later]) expect(await kindsOf(who, asked)).toEqual(['clarification.asked'])
  })

  test('is notified after joining the workspace with a role of the question, or after getting this role', async () => {
    const promoted = await colleague('viewer')
    const asked = await ask([{ kind: 'role', id: 'member' }])
    const joined = await colleague()
    await addMember(service(), world.workspace, promoted, 'member')
    await rechecked()
    for (const who of [joined, promoted]) expect(await kindsOf(who, asked)).toEqual(['clarification.asked'])
  })

  test('is not notified if the question no longer waits, names nobody, or was asked by an older release', async () => {
    const [first, late] = [await colleague(), await colleague()]
    const team = await makeTeam(first)
    const [answered, expired, cancelled, old, unnamed, open] = [
      await ask([team.line]),
      await ask([team.line], { due_in_s: 0.1 }),
      await ask([team.line]),
      await ask([team.line]),
      await ask(null),
      await ask([team.line]),
    ]
    expect((await first.call('POST', `${answered.path}/respond`, { body: { response: 'red' } })).status).toBe(202)
    expect((await world.owner.call('POST', `${cancelled.path}/cancel`)).status).toBe(202)
    for (const one of [answered, expired, cancelled]) await ended(one)
    await service().sql('update questions set notified = null where clarification_id = $1', [uuidOf(old)])
    await service().sql(
      `insert into workflow_members (workspace_id, workflow_id, user_id, role)
       select workspace_id, workflow_id, $2, 'member' from questions where clarification_id = $1`,
      [uuidOf(unnamed), late.uuid],
    )
    await team.add(late)
    expect(await kindsOf(late, open)).toEqual(['clarification.asked'])
    for (const one of [answered, expired, cancelled, old, unnamed]) expect(await noticesOf(late, one)).toEqual([])
  })

  test('is notified although the owners of the workspace were asked, because the team was empty', async () => {
    const late = await colleague()
    const team = await makeTeam()
    const asked = await ask([team.line])
    await team.add(late)
    for (const who of [world.owner, late]) expect(await kindsOf(who, asked)).toEqual(['clarification.asked'])
  })

  test('is notified as a new owner after the question has escalated, and those who were notified of this are not', async () => {
    const first = await colleague()
    const team = await makeTeam(first)
    const asked = await ask([team.line], { due_in_s: 2, on_due: 'escalate' })
    // The time has passed when the engine calls for the reminder, after half of it. The second due time is in an hour.
    await service().sql(
      `update questions set asked_at = now() - interval '1 hour', due_at = now() where clarification_id = $1`,
      [uuidOf(asked)],
    )
    await until(async () => (await noticesOf(world.owner, asked)).length > 0, 'the escalation')
    const late = await colleague('owner')
    await rechecked()
    expect(await kindsOf(late, asked)).toEqual(['clarification.asked'])
    expect(await kindsOf(world.owner, asked)).toEqual(['clarification.escalated'])
    const ofFirst = await kindsOf(first, asked)
    expect(ofFirst).toContain('clarification.escalated')
    expect(ofFirst.filter((kind) => kind === 'clarification.asked')).toHaveLength(1)
  })

  test('is notified once of each question, even if one is locked and the others are looked at again', async () => {
    const [first, late] = [await colleague(), await colleague()]
    const team = await makeTeam(first)
    const [free, held] = [await ask([team.line]), await ask([team.line])]
    const release = Promise.withResolvers<void>()
    const isLocked = Promise.withResolvers<void>()
    const holding = service().db.tenant({ workspaceId: world.workspace.uuid, userId: null }, async (tx) => {
      await tx.row('select from questions where clarification_id = $1 for update', [uuidOf(held)])
      isLocked.resolve()
      await release.promise
    })
    await isLocked.promise
    const added = team.add(late)
    await until(async () => (await noticesOf(late, free)).length > 0, 'the notice')
    expect(await noticesOf(late, held)).toEqual([])
    release.resolve()
    await holding
    await added
    for (const asked of [free, held]) expect(await kindsOf(late, asked)).toEqual(['clarification.asked'])
  })

  test('is notified of each of many questions', async () => {
    const [first, late] = [await colleague(), await colleague()]
    const team = await makeTeam(first)
    const args = {
      items: Array.from({ length: 60 }, (_, n) => n),
      concurrency: 60,
      body: { nodes: [question([team.line])], edges: [] },
    }
    const execution = (await start({ id: 'each', type: 'map', args })).split('/').at(-1)
    const askedOf = async (who: TestPerson) =>
      (await allNoticesOf(who)).filter(({ data }) => data.execution_id === execution)
    await until(async () => (await askedOf(first)).length === 60, 'the questions')
    await team.add(late)
    const matters = (await askedOf(late)).map(({ data }) => data.clarification_id)
    expect([matters.length, new Set(matters).size]).toEqual([60, 60])
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
