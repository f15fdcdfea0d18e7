import { beforeAll, describe, expect, test } from 'vitest'
import { makeTurns } from '#engine/worker/turns'
import type { JsonObject } from '#model/definition'
import { fromWire, newId } from '#platform/ids'
import { fiftyTimes } from '#test/harness/fifty-times'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { makeGates } from './gates.ts'
import { makeQuestions } from './questions.ts'
import * as store from './store.ts'
import { gateViews } from './view.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Gate = {
  request_id: string
  status: string
  payload_sha256: string
  votes: { decision: string; voter: { kind: string; id: string } }[]
  outstanding: { id: string }[]
  unsatisfiable: boolean
  due_at: string | null
  policy: Record<string, unknown>
}

const gated = (policy: Record<string, unknown>, payload: unknown = { amount: 5 }) => ({
  nodes: [
    { id: 'gate', type: 'approval', args: { title: 'Pay?', payload, policy } },
    { id: 'yes', type: 'set', args: { values: { paid: true } } },
    { id: 'no', type: 'set', args: { values: { paid: false } } },
  ],
  edges: [
    { from: { node: 'gate', port: 'approved' }, to: 'yes' },
    { from: { node: 'gate', port: 'rejected' }, to: 'no' },
  ],
  output: { $cel: 'nodes.yes.output != null ? "paid" : "refused"' },
})
const person = (who: TestPerson) => ({ kind: 'user', id: who.id })

async function run(definition: unknown, as: TestPerson = world.owner): Promise<string> {
  const made = await as.call('POST', '/api/workflows', { body: { name: 'Gated', definition } })
  expect(made.status, made.text).toBe(201)
  const { body } = await as.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
  return body.execution_id
}

async function openGate(
  policy: Record<string, unknown>,
  as: TestPerson = world.owner,
): Promise<{ execution: string; gate: Gate }> {
  const execution = await run(gated(policy), as)
  const gate = await until(async () => {
    const { body } = await as.call('GET', `/api/workflows/executions/${execution}/approvals`)
    return body.items[0] as Gate | undefined
  }, 'the gate')
  return { execution, gate }
}

const vote = (who: TestPerson, gate: Gate, decision = 'approve', more: Record<string, unknown> = {}) =>
  who.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision, payload_sha256: gate.payload_sha256, ...more },
  })

const ended = (execution: string, as: TestPerson = world.owner) =>
  until(async () => {
    const { body } = await as.call('GET', `/api/workflows/executions/${execution}`)
    return ['succeeded', 'failed', 'cancelled', 'timed_out'].includes(body.status) ? body : undefined
  }, 'the end')

const read = async (gate: Gate, as: TestPerson = world.owner): Promise<Gate> =>
  (await as.call('GET', `/api/approvals/${gate.request_id}`)).body

describe('gates', () => {
  test('one vote opens an `any` gate, and the execution continues through its port', async () => {
    const { execution, gate } = await openGate({ approvers: [person(world.member)], quorum: 'any' })
    expect(gate).toMatchObject({ status: 'open', outstanding: [{ id: world.member.id }], unsatisfiable: false })
    const waiting = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
      return body.status === 'waiting' ? body : undefined
    }, 'the execution to wait')
    expect(waiting.waiting_for).toMatchObject([{ kind: 'approval', request_id: gate.request_id }])
    const cast = await vote(world.member, gate, 'approve', { comment: 'fine' })
    expect(cast.status, cast.text).toBe(201)
    expect(cast.body).toMatchObject({
      decision: 'approve',
      comment: 'fine',
      voter: { kind: 'human', id: world.member.id, name: world.member.name },
    })
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'paid' })
    expect(await read(gate)).toMatchObject({ status: 'approved', votes: [{ decision: 'approve' }], outstanding: [] })
    const events = await world.owner.call('GET', `/api/workflows/executions/${execution}/events?limit=200`)
    const types = events.body.items.map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type.startsWith('approval.'))).toEqual([
      'approval.opened',
      'approval.voted',
      'approval.resolved',
    ])
  })

  test('a rejection that makes the quorum unreachable rejects at once; `all` needs every approver', async () => {
    const both = { approvers: [person(world.member), person(world.viewer)], quorum: 'all' }
    const { execution, gate } = await openGate(both)
    await vote(world.viewer, gate, 'reject')
    expect(await ended(execution)).toMatchObject({ results: 'refused' })
    const second = await openGate(both)
    await vote(world.viewer, second.gate)
    expect(await read(second.gate)).toMatchObject({ status: 'open', outstanding: [{ id: world.member.id }] })
    await vote(world.member, second.gate)
    expect(await ended(second.execution)).toMatchObject({ results: 'paid' })
  })

  test('a CEL quorum counts people; a single rejection from a veto role rejects the gate', async () => {
    const third = await makePerson(service())
    await addMember(service(), world.workspace, third, 'member')
    const approvers = [person(world.member), person(world.viewer), person(third)]
    const { execution, gate } = await openGate({
      approvers,
      quorum: { $cel: 'approvals.human >= 2 && rejections.total == 0' },
    })
    await vote(world.member, gate)
    await vote(third, gate)
    expect(await ended(execution)).toMatchObject({ results: 'paid' })
    const vetoed = await openGate({ approvers, quorum: 'any', veto: ['viewer'] })
    await vote(world.viewer, vetoed.gate, 'reject')
    expect(await ended(vetoed.execution)).toMatchObject({ results: 'refused' })
  })

  test('the person who started the execution may not approve it, unless the policy allows it', async () => {
    const { gate } = await openGate({ approvers: [person(world.owner), person(world.member)], quorum: 'any' })
    const refused = await vote(world.owner, gate)
    expect(refused.status).toBe(403)
    expect(refused.body.detail).toContain('you started the execution')
    const allowed = await openGate({ approvers: [person(world.owner)], quorum: 'any', allow_self: true })
    expect((await vote(world.owner, allowed.gate)).status).toBe(201)
  })

  test('fifty parallel votes of one person count as one vote and one resume', async () => {
    const { execution, gate } = await openGate({ approvers: [person(world.member)], quorum: 'any' })
    const answers = await fiftyTimes(() => vote(world.member, gate))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    await ended(execution)
    const events = await world.owner.call('GET', `/api/workflows/executions/${execution}/events?limit=200`)
    expect(events.body.items.filter(({ type }: { type: string }) => type === 'approval.resolved')).toHaveLength(1)
  })

  test('a vote is bound to the payload that the voter saw', async () => {
    const { gate } = await openGate({ approvers: [person(world.member)], quorum: 'any' })
    const { status, body } = await vote(world.member, { ...gate, payload_sha256: 'f'.repeat(64) })
    expect([status, body.code]).toEqual([409, 'payload_changed'])
    expect((await read(gate)).votes).toEqual([])
  })

  test('a closed gate accepts no vote, and a cancelled execution closes its gate', async () => {
    const { execution, gate } = await openGate({ approvers: [person(world.member)], quorum: 'any' })
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
    await until(async () => (await read(gate)).status === 'cancelled', 'the gate to close')
    expect((await vote(world.member, gate)).body.code).toBe('gate_closed')
    const decided = await openGate({ approvers: [person(world.member), person(world.viewer)], quorum: 'any' })
    await vote(world.member, decided.gate)
    // The voter is checked before the gate: first the right to vote (403), then a second vote, then the closed gate.
    expect((await vote(world.owner, decided.gate)).status).toBe(403)
    expect((await vote(world.member, decided.gate)).body.code).toBe('already_voted')
    expect((await vote(world.viewer, decided.gate)).body.code).toBe('gate_closed')
  })

  test('a gate that is past its due time expires with the outcome of its policy', async () => {
    const { execution, gate } = await openGate({
      approvers: [person(world.member)],
      quorum: 'any',
      due_in_s: 0.3,
      on_due: 'approve',
    })
    expect(await ended(execution)).toMatchObject({ results: 'paid' })
    expect(await read(gate)).toMatchObject({ status: 'expired', outcome: 'approved' })
  })

  test('a voter is reminded when half of the time to the due time has passed', async () => {
    const { gate } = await openGate({ approvers: [person(world.member)], quorum: 'any', due_in_s: 8 })
    const kinds = async (): Promise<string[]> => {
      const told = await world.member.call('GET', '/api/notifications?limit=200')
      return told.body.items
        .filter(({ data }: { data: { request_id?: string } }) => data.request_id === gate.request_id)
        .map(({ kind }: { kind: string }) => kind)
    }
    await until(async () => (await kinds()).includes('approval.reminder'), 'the reminder')
    const before = (await kinds()).filter((kind) => kind !== 'approval.resolved')
    expect(before.sort()).toEqual(['approval.reminder', 'approval.requested'])
  })

  test('an execution that waits for a gate shows its due time, not the time of the reminder', async () => {
    const { execution, gate } = await openGate({ approvers: [person(world.member)], quorum: 'any', due_in_s: 3_600 })
    const waiting = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
      return body.status === 'waiting' ? body : undefined
    }, 'the execution to wait')
    expect(gate.due_at).not.toBeNull()
    expect(waiting.waiting_for).toMatchObject([{ kind: 'approval', until: gate.due_at }])
  })

  test('an escalated gate asks the approvers in escalate_to', async () => {
    const escalating = {
      approvers: [person(world.viewer)],
      quorum: 'any',
      on_due: 'escalate',
      escalate_to: [person(world.member)],
    }
    const early = await openGate({ ...escalating, due_in_s: 3_600 })
    expect((await vote(world.member, early.gate)).status).toBe(404)
    const { execution, gate } = await openGate({ ...escalating, due_in_s: 2 })
    // Leaves enough time for the vote even on a busy machine.
    await service().sql(
      `update approval_requests set policy = jsonb_set(policy, '{due_in_s}', '3600'),
         due_at = case when escalated then now() + interval '1 hour' else due_at end where request_id = $1`,
      [fromWire('apr', gate.request_id)],
    )
    await until(async () => (await read(gate)).outstanding.some(({ id }) => id === world.member.id), 'the escalation')
    expect((await vote(world.member, gate)).status).toBe(201)
    expect(await ended(execution)).toMatchObject({ results: 'paid' })
  })

  test('a vote can be delegated to a colleague, and its former holder can no longer vote', async () => {
    const { gate } = await openGate({ approvers: [person(world.viewer)], quorum: 'any' })
    const handed = await world.viewer.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
      body: { user_id: world.member.id },
    })
    expect(handed.body.outstanding).toMatchObject([{ id: world.member.id }])
    expect((await vote(world.viewer, gate)).status).toBe(404)
    const foreign = await world.member.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
      body: { user_id: world.stranger.id },
    })
    expect(foreign.body.code).toBe('unknown_reference')
    expect((await vote(world.member, gate)).status).toBe(201)
  })

  test('a delegation is audited, can be delegated back, and returns to the approver when the delegate leaves', async () => {
    const colleague = await makePerson(service())
    await addMember(service(), world.workspace, colleague, 'member')
    const { gate } = await openGate({ approvers: [person(world.viewer)], quorum: 'any' })
    const hand = (from: TestPerson, to: TestPerson) =>
      from.call('POST', `/api/approvals/${gate.request_id}/delegate`, { body: { user_id: to.id } })
    const outstanding = async () => (await read(gate)).outstanding.map(({ id }) => id)
    expect((await hand(world.viewer, colleague)).status).toBe(200)
    expect((await hand(colleague, world.viewer)).status).toBe(200)
    expect(await outstanding()).toEqual([world.viewer.id])
    await hand(world.viewer, world.member)
    await hand(world.member, colleague)
    expect(await outstanding()).toEqual([colleague.id])
    const log = await world.owner.call('GET', '/api/audit-log?limit=200')
    const entries = log.body.items.filter(
      ({ action, subject }: { action: string; subject: string }) =>
        action === 'approval.delegated' && subject === gate.request_id,
    )
    expect(entries).toHaveLength(4)
    expect(entries[0].data).toEqual({ from: world.member.id, to: colleague.id })
    await service().sql('delete from memberships where user_id = $1', [colleague.uuid])
    expect(await outstanding()).toEqual([world.viewer.id])
    expect((await vote(world.viewer, gate)).status).toBe(201)
  })

  test('a vote cannot be delegated to a guest', async () => {
    const { gate } = await openGate({ approvers: [person(world.viewer)], quorum: 'any' })
    const handed = await world.viewer.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
      body: { user_id: world.guest.id },
    })
    expect([handed.status, handed.body.errors?.[0].path]).toEqual([422, '/user_id'])
    expect((await read(gate)).outstanding).toMatchObject([{ id: world.viewer.id }])
  })

  test('escalate_to accepts a single approver without a list', async () => {
    const { gate } = await openGate({
      approvers: [person(world.viewer)],
      quorum: 'any',
      due_in_s: 0.3,
      on_due: 'escalate',
      escalate_to: person(world.member),
    })
    await until(
      async () => (await world.member.call('GET', `/api/approvals/${gate.request_id}`)).status === 200,
      'the escalation to the member',
    )
    expect(await read(gate)).toMatchObject({ policy: { escalate_to: [person(world.member)] } })
  })

  test('when a person leaves, a gate locked by a vote is rechecked after the vote, and other gates do not wait for it', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const [held, free] = [
      await openGate({ approvers: [person(leaver)], quorum: 'any' }),
      await openGate({ approvers: [person(leaver)], quorum: 'any' }),
    ]
    const release = Promise.withResolvers<void>()
    const holding = service().db.tenant({ workspaceId: world.workspace.uuid, userId: null }, async (tx) => {
      const uuid = fromWire('apr', held.gate.request_id)
      await tx.row('select from approval_requests where request_id = $1 for update', [uuid])
      await service().sql('delete from memberships where user_id = $1', [leaver.uuid])
      await release.promise
    })
    await until(async () => (await read(free.gate)).unsatisfiable, 'the report')
    expect((await read(held.gate)).unsatisfiable).toBe(false)
    release.resolve()
    await holding
    await until(async () => (await read(held.gate)).unsatisfiable, 'the report of the other gate')
    const rechecks = () => service().sql('select from gate_rechecks where workspace_id = $1', [world.workspace.uuid])
    await until(async () => (await rechecks()).length === 0, 'no gate left to check')
  })

  test('a gate that waited only for a person who leaves opens', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const { execution, gate } = await openGate({ approvers: [person(world.member), person(leaver)], quorum: 'all' })
    expect((await vote(world.member, gate)).status).toBe(201)
    await service().sql('delete from memberships where user_id = $1', [leaver.uuid])
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'paid' })
    expect(await read(gate)).toMatchObject({ status: 'approved', outstanding: [], unsatisfiable: false })
  })

  test('gates and questions of a map name the item to which they belong', async () => {
    const me = await makePerson(service())
    await addMember(service(), world.workspace, me, 'member')
    const body = {
      nodes: [
        { id: 'gate', type: 'approval', args: { title: 'Go?', policy: { approvers: [person(me)] } } },
        { id: 'ask', type: 'clarification', args: { question: 'Well?', who: [person(me)] } },
      ],
      edges: [],
    }
    const execution = await run({ nodes: [{ id: 'each', type: 'map', args: { items: [1, 2], body } }], edges: [] })
    const inbox = async (kind: string) => (await me.call('GET', `/api/${kind}/inbox`)).body.items
    await until(
      async () => (await inbox('approvals')).length === 2 && (await inbox('clarifications')).length === 2,
      'two approvals and two questions in the inbox',
    )
    const paths = async (kind: string) =>
      (await inbox(kind))
        .map((one: { node_id: string; node_path: string }) => `${one.node_id} at ${one.node_path}`)
        .sort()
    expect(await paths('approvals')).toEqual(['gate at each[0].gate', 'gate at each[1].gate'])
    expect(await paths('clarifications')).toEqual(['ask at each[0].ask', 'ask at each[1].ask'])
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
  })

  test('a page of gates needs no more queries than one gate', async () => {
    const me = await makePerson(service())
    await addMember(service(), world.workspace, me, 'member')
    for (let n = 0; n < 4; n++) await openGate({ approvers: [person(me)], quorum: 'any' })
    const asked = async (limit: number): Promise<number> =>
      service().db.tenant({ workspaceId: world.workspace.uuid, userId: null }, async (tx) => {
        let count = 0
        const rows: typeof tx.rows = (...given) => {
          count += 1
          return tx.rows(...given)
        }
        const gates = await store.listInbox(tx, world.workspace.uuid, me.uuid, { limit })
        expect(await gateViews({ ...tx, rows }, gates.items)).toHaveLength(limit)
        return count
      })
    expect(await asked(4)).toBe(await asked(1))
  })

  test('only the ids of approvers in a policy may come from data, and an invalid policy is refused', async () => {
    const save = async (policy: Record<string, unknown>) => {
      const { status, body } = await world.owner.call('POST', '/api/workflows', {
        body: { name: 'Gated', definition: gated(policy) },
      })
      return status === 201 ? 201 : body.errors[0].path.replace('/definition/nodes/0/args/policy', '')
    }
    const approvers = [person(world.member)]
    const line = { kind: 'agent', id: 'auditor' }
    const fromInput = { $ref: 'input.x' }
    expect(await save({ approvers: fromInput })).toBe('/approvers')
    expect(await save({ approvers: [{ kind: 'user', id: fromInput }] })).toBe(201)
    expect(await save({ approvers: [{ ...line, instructions: fromInput }] })).toBe('/approvers/0/instructions')
    expect(await save({ approvers, allow_self: fromInput })).toBe('/allow_self')
    expect(await save({ approvers, due_in_s: fromInput, on_due: 'approve' })).toBe('/due_in_s')
    expect(await save({ approvers, quorum: fromInput })).toMatch(/^\/quorum/)
    expect(await save({ approvers: [{ kind: 'role', id: 'emperor' }] })).toBe('/approvers/0/id')
    expect(await save({ approvers, veto: ['emperor'] })).toBe('/veto/0')
    expect(await save({ approvers, quorum: { $cel: 'approvals.humans >= 1' } })).toBe('/quorum')
    expect(await save({ approvers, quorum: { $cel: 'approvals.human' } })).toBe('/quorum')
    expect(await save({ approvers, quorum: { $cel: 'votes[1].decision == "approve"' } })).toBe(201)
  })

  test('a title that is not a text fails the node; a cursor with a year out of range is refused', async () => {
    const definition = gated({ approvers: [person(world.member)] })
    const execution = await run({
      ...definition,
      nodes: definition.nodes.map((node) =>
        node.id === 'gate' ? { ...node, args: { ...node.args, title: { $ref: 'input' } } } : node,
      ),
    })
    expect(await ended(execution)).toMatchObject({ status: 'failed', error: { code: 'args_invalid', node_id: 'gate' } })
    const nowhere = '00000000-0000-0000-0000-000000000000'
    for (const year of ['+275760-09-13T00:00:00.000Z', '-000001-09-13T00:00:00.000Z', '0000-01-01T00:00:00.000Z']) {
      const cursor = Buffer.from(JSON.stringify([year, nowhere])).toString('base64url')
      expect((await world.member.call('GET', `/api/approvals/inbox?cursor=${cursor}`)).status).toBe(422)
    }
  })

  test('teams and roles can approve; people who leave lose their vote, and a gate that no person can open is reported', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const team = (await world.owner.call('POST', '/api/teams', { body: { name: 'Finance' } })).body
    await world.owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [leaver.id] } })
    const { gate } = await openGate({ approvers: [{ kind: 'team', id: team.team_id }], quorum: 'any' })
    expect(gate.outstanding).toMatchObject([{ id: leaver.id }])
    const other = (await world.owner.call('POST', '/api/teams', { body: { name: 'Law' } })).body
    await world.owner.call('POST', `/api/teams/${other.team_id}/add_users`, { body: { user_ids: [world.member.id] } })
    const { gate: ofOther } = await openGate({ approvers: [{ kind: 'team', id: other.team_id }], quorum: 'any' })
    expect(ofOther.outstanding).toMatchObject([{ id: world.member.id }])
    await world.owner.call('DELETE', `/api/teams/${other.team_id}/members/${world.member.id}`)
    expect((await read(ofOther)).outstanding).toEqual([])
    await service().sql('delete from memberships where user_id = $1', [leaver.uuid])
    await until(async () => (await read(gate)).unsatisfiable, 'the report')
    await until(async () => (await read(ofOther)).unsatisfiable, 'the report of the other gate')
    const told = await world.owner.call('GET', '/api/notifications?limit=200')
    expect(
      told.body.items.some(
        ({ kind, data }: { kind: string; data: { request_id: string } }) =>
          kind === 'approval.unsatisfiable' && data.request_id === gate.request_id,
      ),
    ).toBe(true)
    const byRole = await openGate({ approvers: [{ kind: 'role', id: 'viewer' }], quorum: 'any' })
    expect(byRole.gate.outstanding).toMatchObject([{ id: world.viewer.id }])
  })

  test('the inbox lists the gates that wait for the caller, soonest due first and without a due time last', async () => {
    const me = await makePerson(service())
    await addMember(service(), world.workspace, me, 'member')
    const late = await openGate({ approvers: [person(me)], quorum: 'any', due_in_s: 9000 })
    const never = await openGate({ approvers: [person(me)], quorum: 'any' })
    const soon = await openGate({ approvers: [person(me)], quorum: 'any', due_in_s: 3000 })
    const ids = async (query = '') => (await me.call('GET', `/api/approvals/inbox${query}`)).body
    expect((await ids()).items.map(({ request_id }: Gate) => request_id)).toEqual(
      [soon, late, never].map(({ gate }) => gate.request_id),
    )
    const first = await ids('?limit=2')
    const rest = await ids(`?limit=2&cursor=${first.next_cursor}`)
    expect(rest.items.map(({ request_id }: Gate) => request_id)).toEqual([never.gate.request_id])
    await vote(me, soon.gate)
    expect((await ids()).items).toHaveLength(2)
  })
})

describe('questions', () => {
  const asking = (args: Record<string, unknown> = {}) => ({
    nodes: [
      {
        id: 'ask',
        type: 'clarification',
        args: { question: 'Which colour?', schema: { type: 'string', enum: ['red', 'green'] }, ...args },
      },
    ],
    edges: [],
    output: { $ref: 'nodes.ask.output' },
  })
  const asked = async (
    args: Record<string, unknown> = {},
    as: TestPerson = world.owner,
  ): Promise<{ execution: string; clarification_id: string }> => {
    const execution = await run(asking(args), as)
    const waiting = await until(async () => {
      const { body } = await as.call('GET', `/api/workflows/executions/${execution}`)
      return body.status === 'waiting' ? body : undefined
    }, 'the question')
    expect(waiting.waiting_for).toMatchObject([{ kind: 'clarification', question: 'Which colour?' }])
    return { execution, clarification_id: waiting.waiting_for[0].clarification_id }
  }
  const respond = (who: TestPerson, execution: string, response: unknown, more: Record<string, unknown> = {}) =>
    who.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response, ...more } })

  test('an answer becomes the output of the node; an answer that does not fit the schema is refused with its path', async () => {
    const { execution } = await asked()
    const wrong = await respond(world.owner, execution, 'blue')
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, '/response'])
    const right = await respond(world.owner, execution, 'green')
    expect(right.status, right.text).toBe(202)
    expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'green' })
    const late = await respond(world.owner, execution, 'red')
    expect([late.status, late.body.code]).toEqual([409, 'not_waiting'])
    expect(late.body.detail).toContain(world.owner.name)
  })

  test('of fifty parallel answers one is accepted', async () => {
    const { execution } = await asked()
    const answers = await fiftyTimes((n) => respond(world.owner, execution, n % 2 ? 'red' : 'green'))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'not_waiting')).toHaveLength(49)
  })

  test('a question that names a person can be answered only by that person', async () => {
    const { execution } = await asked({ who: [{ kind: 'user', id: world.viewer.id }] })
    expect((await respond(world.owner, execution, 'red')).status).toBe(403)
    expect((await respond(world.member, execution, 'red')).status).toBe(404)
    const inbox = await world.viewer.call('GET', '/api/clarifications/inbox')
    expect(inbox.body.items).toMatchObject([{ execution_id: execution, question: 'Which colour?' }])
    expect((await respond(world.viewer, execution, 'red')).status).toBe(202)
  })

  test('a question may name a team and a role', async () => {
    const team = (await world.owner.call('POST', '/api/teams', { body: { name: 'Painters' } })).body
    await world.owner.call('POST', `/api/teams/${team.team_id}/add_users`, { body: { user_ids: [world.member.id] } })
    const forTeam = await asked({ who: [{ kind: 'team', id: team.team_id }] })
    expect((await respond(world.viewer, forTeam.execution, 'red')).status).toBe(404)
    expect((await respond(world.owner, forTeam.execution, 'red')).status).toBe(403)
    const mine = await world.member.call('GET', '/api/clarifications/inbox')
    expect(mine.body.items).toMatchObject([{ execution_id: forTeam.execution }])
    expect((await respond(world.member, forTeam.execution, 'red')).status).toBe(202)
    const forRole = await asked({ who: [{ kind: 'role', id: 'viewer' }] })
    expect((await respond(world.member, forRole.execution, 'red')).status).toBe(404)
    expect((await respond(world.viewer, forRole.execution, 'red')).status).toBe(202)
  })

  test('the inbox can be filtered by execution', async () => {
    const who = [{ kind: 'user', id: world.viewer.id }]
    const [one, other] = [await asked({ who }), await asked({ who })]
    const of = async (execution: string) =>
      (await world.viewer.call('GET', `/api/clarifications/inbox?execution_id=${execution}`)).body.items
    expect(await of(one.execution)).toMatchObject([{ execution_id: one.execution }])
    expect(await of('exe_01kf3v6h2he3wtpk1fw5c0wz9d')).toEqual([])
    for (const { execution } of [one, other]) expect((await respond(world.viewer, execution, 'red')).status).toBe(202)
    expect(await of(one.execution)).toEqual([])
  })

  test('a question may name a person by a plain id', async () => {
    const { execution } = await asked({ who: [world.viewer.id] })
    const inbox = await world.viewer.call('GET', '/api/clarifications/inbox')
    expect(inbox.body.items).toMatchObject([{ execution_id: execution }])
    expect((await world.member.call('GET', '/api/clarifications/inbox')).body.items).toEqual([])
    expect((await respond(world.viewer, execution, 'green')).status).toBe(202)
  })

  test('an execution may wait for two questions; the id selects one', async () => {
    const execution = await run({
      nodes: ['a', 'b'].map((id) => ({
        id,
        type: 'clarification',
        args: { question: id, schema: { type: 'string' } },
      })),
      edges: [],
      output: { a: { $ref: 'nodes.a.output' }, b: { $ref: 'nodes.b.output' } },
    })
    const waiting = await until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
      return body.waiting_for.length === 2 ? body.waiting_for : undefined
    }, 'two questions')
    const ambiguous = await respond(world.owner, execution, 'x')
    expect([ambiguous.status, ambiguous.body.errors[0].path]).toEqual([422, '/clarification_id'])
    expect(
      (await respond(world.owner, execution, 'x', { clarification_id: 'clr_01kf3v6h2he3wtpk1fw5c0wz9d' })).body.code,
    ).toBe('unknown_reference')
    for (const { question, clarification_id } of waiting)
      expect((await respond(world.owner, execution, `to ${question}`, { clarification_id })).status).toBe(202)
    expect(await ended(execution)).toMatchObject({ results: { a: 'to a', b: 'to b' } })
  })

  test('a question that names no member goes to the owners; an invalid schema from data fails the node', async () => {
    const { body } = await world.member.call('POST', '/api/workflows', {
      body: { name: 'Asks', definition: asking({ who: { $ref: 'input.who' } }) },
    })
    const ran = await world.member.call('POST', `/api/workflows/${body.workflow_id}/run`, {
      body: { input: { who: [world.stranger.id] } },
    })
    const execution = ran.body.execution_id
    const inbox = await until(async () => {
      const { items } = (await world.owner.call('GET', '/api/clarifications/inbox?limit=200')).body
      return items.some(({ execution_id }: { execution_id: string }) => execution_id === execution)
    }, 'the question')
    expect(inbox).toBe(true)
    expect((await respond(world.member, execution, 'red')).status).toBe(403)
    expect((await respond(world.owner, execution, 'red')).status).toBe(202)
    const { body: made } = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'Asks', definition: asking({ schema: { $ref: 'input' } }) },
    })
    const failing = await world.owner.call('POST', `/api/workflows/${made.workflow_id}/run`, {
      body: { input: { type: 'banana' } },
    })
    expect(await ended(failing.body.execution_id)).toMatchObject({ error: { code: 'args_invalid' } })
  })

  test('an escalated question can be answered by an owner of the workspace, even if it named no person', async () => {
    const { execution } = await asked({ due_in_s: 3600, on_due: 'escalate' }, world.member)
    expect((await respond(world.owner, execution, 'red')).status).toBe(404)
    await service().sql('update questions set escalated = true where execution_id = $1', [fromWire('exe', execution)])
    expect((await respond(world.viewer, execution, 'red')).status).toBe(404)
    const answer = await respond(world.owner, execution, 'red')
    expect(answer.status, answer.text).toBe(202)
  })

  test('a default answer that does not fit the schema is saved with a warning', async () => {
    const saved = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'W', definition: asking({ due_in_s: 60, on_due: 'default', default: 'blue' }) },
    })
    expect(saved.body.warnings).toEqual([
      {
        path: '/definition/nodes/0/args/default',
        message: expect.stringMatching(/^does not match the schema, so it is not used when the question is due: /),
      },
    ])
  })

  test('a question past its due time uses the default answer or fails the node', async () => {
    const unfit = await run(asking({ due_in_s: 0.2, on_due: 'default', default: 'blue' }))
    expect(await ended(unfit)).toMatchObject({ status: 'failed', error: { code: 'question_expired' } })
    const defaulted = await run(asking({ due_in_s: 0.2, on_due: 'default', default: 'red' }))
    expect(await ended(defaulted)).toMatchObject({ status: 'succeeded', results: 'red' })
    const failing = await run(asking({ due_in_s: 0.2, on_due: 'fail' }))
    expect(await ended(failing)).toMatchObject({
      status: 'failed',
      error: { code: 'question_expired', node_id: 'ask' },
    })
  })

  test('a question or gate that was settled before its journal event was written is not opened again after a crash', async () => {
    const { db } = service()
    const engine = () => ({ send: () => {} })
    const wait = (nodePath: string, args: JsonObject) => ({
      workspaceId: world.workspace.uuid,
      executionId: newId(),
      workflowId: null,
      versionId: null,
      nodePath,
      nodeId: nodePath,
      attempt: 1,
      args,
      startedBy: null,
      initiatedBy: [],
      input: {},
    })
    const questions = makeQuestions({ db, engine, turns: makeTurns() })
    const asking = wait('ask', { question: 'Well?' })
    const asked = await questions.askQuestion(asking)
    const by = { id: 'somebody', name: 'Somebody' }
    await db.tenant({ workspaceId: asking.workspaceId, userId: null }, (tx) =>
      questions.answer(tx, asking.workspaceId, asking.executionId, { response: 1 }, by, () => true),
    )
    // The same question comes back with its answer, and the execution continues with that answer.
    const answered = { type: 'clarification.answered', nodePath: 'ask', answer: 1 }
    expect(await questions.askQuestion(asking)).toMatchObject({ ...asked, settled: answered })

    const gates = makeGates({ db, engine, changedDatasets: async () => null, onAgentsAsked: () => {} })
    const gating = wait('gate', {
      title: 'Go?',
      payload: { n: 1 },
      policy: { approvers: [person(world.owner)] },
    })
    const { data } = await gates.openGate(gating)
    const vote = { decision: 'approve', payload_sha256: data.payload_sha256 }
    expect((await world.owner.call('POST', `/api/approvals/${data.request_id}/votes`, { body: vote })).status).toBe(201)
    const settled = { type: 'approval.resolved', nodePath: 'gate', outcome: 'approved' }
    expect(await gates.openGate(gating)).toMatchObject({ data, settled })
    const changed = await gates.openGate({ ...gating, args: { ...gating.args, payload: { n: 2 } } })
    expect(changed.data.request_id).not.toBe(data.request_id)
  })

  test('a timer that fires twice escalates a question once, and fails it only after the second due time', async () => {
    const told: string[] = []
    const questions = makeQuestions({
      turns: makeTurns(),
      db: service().db,
      engine: () => ({
        send: (_tx, _to, { type }) => void told.push(type),
      }),
    })
    const wait = { workspaceId: world.workspace.uuid, executionId: newId(), nodePath: 'ask' }
    const args = { question: 'Well?', due_in_s: 3600, on_due: 'escalate' }
    const asked = await questions.askQuestion({
      ...wait,
      workflowId: null,
      versionId: null,
      nodeId: 'ask',
      attempt: 1,
      args,
      startedBy: world.owner.uuid,
      initiatedBy: [],
      input: {},
    })
    const pass = () =>
      service().sql(
        `update questions set asked_at = asked_at - interval '1 hour', due_at = due_at - interval '1 hour' where execution_id = $1`,
        [wait.executionId],
      )
    // The first due time is the time of the reminder.
    const due = new Date(asked.data.due_at as string)
    expect(asked.dueAt!.getTime()).toBeLessThan(due.getTime())
    expect(await questions.questionDue(wait)).toEqual({ dueAt: due })
    await pass()
    const { dueAt: again } = await questions.questionDue(wait)
    expect(again!.getTime()).toBeGreaterThanOrEqual(due.getTime())
    expect(await questions.questionDue(wait)).toEqual({ dueAt: again })
    expect(told).toEqual([])
    await pass()
    expect(await questions.questionDue(wait)).toEqual({ dueAt: null })
    expect(told).toEqual(['node.failed'])
  })
})
