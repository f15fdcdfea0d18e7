import { expect, test } from 'vitest'
import { verifyReceipt } from '#sdk/receipts'
import { callTools, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { useServiceWithModel } from '#test/harness/model'
import { until } from '#test/harness/until'
import type { TestPerson } from '#test/harness/world'

// A person who may vote on a tool call of an agent edits its arguments. The tool is a workflow that returns its input.

const { model, service, world } = await useServiceWithModel('fake-model')

const inputs = {
  type: 'object',
  properties: { order: { type: 'integer', minimum: 1 }, source: { type: 'string' }, priority: { type: 'string' } },
  required: ['order'],
  additionalProperties: false,
}
const tool = {
  inputs,
  nodes: [{ id: 'n', type: 'set', args: { values: { seen: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.n.output.seen' },
}
type Gate = { request_id: string; payload: { arguments: object }; payload_sha256: string } & Record<string, unknown>

const make = async (name: string, definition: object): Promise<string> => {
  const made = await world().owner.call('POST', '/api/workflows', { body: { name, definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const wanted = { order: 7, priority: 'low' }
const toolText = (asked: Asked): string => asked.messages.findLast(({ role }) => role === 'tool')!.text

/** Starts an execution whose agent wants to call the tool, and returns it with the gate for the call. */
async function start(policy: object = {}): Promise<{ execution: string; workflow: string; gate: Gate }> {
  const { member, viewer } = world()
  const approvers = [member, viewer].map(({ id }) => ({ kind: 'user', id }))
  const workflow = await make('Look up', tool)
  const grant = {
    workflow_id: workflow,
    arguments: { fixed: { source: 'agent' }, allowed: { priority: ['low', 'high'] } },
    approval: { approvers, quorum: 'any', ...policy },
  }
  const agent = await make('Agent', {
    nodes: [{ id: 'agent', type: 'agent.run', args: { goal: 'Look it up', tools: [grant] } }],
    edges: [],
    output: { $ref: 'nodes.agent.output' },
  })
  model.script(callTools([{ name: 'look_up', arguments: wanted }]), (asked) => say(toolText(asked)))
  const run = await world().owner.call('POST', `/api/workflows/${agent}/run`, { body: {} })
  const execution = run.body.execution_id as string
  return { execution, workflow, gate: await openGate(execution) }
}
const openGate = (execution: string): Promise<Gate> =>
  until(async () => {
    const { body } = await world().owner.call('GET', `/api/workflows/executions/${execution}/approvals?status=open`)
    const [open] = body.items
    return open && (await world().owner.call('GET', `/api/approvals/${open.request_id}`)).body
  }, 'the gate')
const edit = (person: TestPerson, gate: Gate, args: object, more: object = {}) =>
  person.call('POST', `/api/approvals/${gate.request_id}/arguments`, {
    body: { arguments: args, payload_sha256: gate.payload_sha256, ...more },
  })
const vote = (person: TestPerson, gate: Gate, decision = 'approve') =>
  person.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision, payload_sha256: gate.payload_sha256 },
  })
const ended = (execution: string) =>
  until(async () => {
    const { body } = await world().owner.call('GET', `/api/workflows/executions/${execution}`)
    return ['succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'the end of the run')
const callsOf = async (workflow: string) =>
  (await world().owner.call('GET', `/api/executions?workflow_id=${workflow}`)).body.items

test('the tool is called once, with exactly the edited arguments that another person approved', async () => {
  const { member, viewer, owner } = world()
  const { execution, workflow, gate } = await start()
  expect(gate).toMatchObject({ editable: true, edited_by: null, replaces: null, replaced_by: null })
  expect(Object.keys((gate.arguments_schema as { properties: object }).properties)).toEqual(['order', 'priority'])
  const edited = await edit(member, gate, { order: 8, priority: 'high' }, { comment: 'The newer one' })
  expect(edited.status, edited.text).toBe(201)
  expect(edited.headers.get('location')).toBe(`/api/approvals/${edited.body.request_id}`)
  const next: Gate = edited.body
  expect(next).toMatchObject({
    status: 'open',
    payload: { arguments: { order: 8, priority: 'high', source: 'agent' } },
    edited_by: { user_id: member.id, name: member.name },
    edit_comment: 'The newer one',
    replaces: gate.request_id,
    votes: [],
    excluded: [{ user_id: member.id, reason: 'edited the arguments' }],
  })
  expect(next.payload_sha256).not.toBe(gate.payload_sha256)

  // A vote on the first arguments does not count for the edited arguments. The error names the new gate.
  const stale = await vote(viewer, gate)
  expect([stale.status, stale.body.code]).toEqual([409, 'payload_changed'])
  expect(stale.body.report).toEqual({ request_id: next.request_id })
  const mixed = await vote(viewer, { ...next, payload_sha256: gate.payload_sha256 })
  expect([mixed.status, mixed.body.code]).toEqual([409, 'payload_changed'])
  // The author of the arguments may not approve them.
  expect((await vote(member, next)).status).toBe(403)
  expect(await callsOf(workflow)).toEqual([])

  expect((await vote(viewer, next)).status).toBe(201)
  const { status, results } = await ended(execution)
  expect(status).toBe('succeeded')
  expect(results.steps[0].calls).toMatchObject([
    { arguments: { order: 8, priority: 'high' }, ok: true, edited_by: member.name },
  ])
  // The model is told that people changed the arguments.
  expect(results.answer).toContain('people changed its arguments')
  const calls = await callsOf(workflow)
  expect(calls).toHaveLength(1)
  const { body: call } = await owner.call('GET', `/api/workflows/executions/${calls[0].execution_id}`)
  expect(call.results).toEqual({ order: 8, priority: 'high', source: 'agent' })

  const { body: receipt } = await owner.call('GET', `/api/workflows/executions/${execution}/receipt`)
  expect(receipt.gates).toMatchObject([
    { request_id: gate.request_id, status: 'cancelled', replaced_by: next.request_id, votes: [] },
    {
      request_id: next.request_id,
      replaces: gate.request_id,
      edited_by: { id: member.id, name: member.name },
      edit_comment: 'The newer one',
      payload: { arguments: { order: 8 } },
      votes: [{ voter: { id: viewer.id }, payload_sha256: next.payload_sha256 }],
    },
  ])
  expect(verifyReceipt(receipt, (await service().call('GET', '/api/receipt-key')).body.public_key)).toEqual([])
  const { body: journal } = await owner.call('GET', `/api/workflows/executions/${execution}/events?limit=200`)
  const events = journal.items.filter(({ type }: { type: string }) => type === 'approval.edited')
  expect(events).toMatchObject([
    { data: { edited_by: { id: member.id }, replaced_by: next.request_id, changed: ['order', 'priority'] } },
  ])
})

test('an edit must stay within the grant of the tool, and a refused edit changes nothing', async () => {
  const { member, viewer, owner, guest, stranger } = world()
  const { execution, gate } = await start()
  const refused = async (args: object, path: string): Promise<void> => {
    const { status, body } = await edit(member, gate, args)
    expect([status, body.code, body.errors?.[0]?.path]).toEqual([422, 'invalid', path])
  }
  await refused({ order: 'eight', priority: 'low' }, '/arguments/order')
  await refused({ order: 0, priority: 'low' }, '/arguments/order')
  await refused({ order: 8, priority: 'urgent' }, '/arguments/priority')
  await refused({ order: 8, priority: 'low', more: 1 }, '/arguments/more')
  await refused({ order: 8, priority: 'low', source: 'somebody' }, '/arguments/source')
  await refused({ ...wanted, source: 'agent' }, '/arguments')
  await refused({ order: 8, priority: 'x'.repeat(300_000) }, '/arguments')
  // The owner can see the execution but has no vote. Guests and strangers cannot see it.
  const statuses = [owner, guest, stranger].map(
    async (person) => (await edit(person, gate, { ...wanted, order: 8 })).status,
  )
  expect(await Promise.all(statuses)).toEqual([403, 404, 404])
  const other = await edit(member, { ...gate, payload_sha256: 'f'.repeat(64) }, { ...wanted, order: 8 })
  expect([other.status, other.body.code]).toEqual([409, 'payload_changed'])
  expect(await openGate(execution)).toMatchObject({ request_id: gate.request_id, payload: gate.payload })

  expect((await vote(viewer, gate)).status).toBe(201)
  const late = await edit(member, gate, { ...wanted, order: 8 })
  expect([late.status, late.body.code]).toEqual([409, 'gate_closed'])
  expect((await ended(execution)).results.steps[0].calls[0].arguments).toEqual(wanted)
})

test('votes on the previous call do not count, and a person who has voted can no longer edit', async () => {
  const { member, viewer } = world()
  const { execution, gate } = await start({ quorum: { n_of: 2 }, allow_self: true })
  expect((await vote(viewer, gate)).status).toBe(201)
  const again = await edit(viewer, gate, { ...wanted, order: 8 })
  expect([again.status, again.body.code]).toEqual([409, 'already_voted'])
  const next: Gate = (await edit(member, gate, { ...wanted, order: 8 })).body
  expect((await vote(member, next)).status).toBe(201)
  // One of the two votes is missing: the first vote was about the previous call.
  expect((await world().owner.call('GET', `/api/approvals/${next.request_id}`)).body).toMatchObject({ status: 'open' })
  expect((await vote(viewer, next)).status).toBe(201)
  expect((await ended(execution)).results.steps[0].calls[0].arguments).toEqual({ ...wanted, order: 8 })
})

test('an edit that leaves no person to approve it is refused; an edited call is never approved by its due time', async () => {
  const { member } = world()
  const alone = { approvers: [{ kind: 'user', id: member.id }] }
  const { execution, gate } = await start(alone)
  const refused = await edit(member, gate, { ...wanted, order: 8 })
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect(await openGate(execution)).toMatchObject({ request_id: gate.request_id, replaced_by: null })
  expect((await vote(member, gate, 'reject')).status).toBe(201)
  await ended(execution)

  const silent = await start({ due_in_s: 3600, on_due: 'approve' })
  const { body: next } = await edit(member, silent.gate, { ...wanted, order: 8 })
  expect(next).toMatchObject({ due_at: silent.gate.due_at, policy: { on_due: 'reject' } })
  expect((await vote(world().viewer, next, 'reject')).status).toBe(201)
  expect((await ended(silent.execution)).results.steps[0].calls[0]).toMatchObject({ ok: false })
  expect(await callsOf(silent.workflow)).toEqual([])
})

test('an edit keeps the voters and the due time; the number of edits is limited', async () => {
  const { member, viewer, owner } = world()
  const { execution, gate } = await start({ allow_self: true, due_in_s: 3600 })
  const handed = await viewer.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
    body: { user_id: owner.id },
  })
  expect(handed.status, handed.text).toBe(200)
  const { body: next } = await edit(member, gate, { ...wanted, order: 8 })
  expect(next).toMatchObject({ due_at: gate.due_at, excluded: [] })
  expect(next.outstanding.map(({ id }: { id: string }) => id).sort()).toEqual([member.id, owner.id].sort())
  expect((await edit(viewer, next, { ...wanted, order: 9 })).status).toBe(404)
  await service().sql('update approval_requests set edits = 20 where status = $1', ['open'])
  const refused = await edit(owner, next, { ...wanted, order: 9 })
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
  expect((await vote(owner, next)).status).toBe(201)
  expect((await ended(execution)).results.steps[0].calls[0].arguments).toEqual({ ...wanted, order: 8 })
})

test('of a simultaneous edit and vote one is accepted, and the tool is called with its arguments', async () => {
  const { member, viewer } = world()
  const { execution, workflow, gate } = await start()
  const edits = [8, 9].map((order) => edit(member, gate, { ...wanted, order }))
  const [cast, ...tried] = await Promise.all([vote(viewer, gate), ...edits])
  expect([cast, ...tried].filter(({ status }) => status === 201)).toHaveLength(1)
  for (const { status, body } of [cast, ...tried].filter(({ status }) => status !== 201))
    expect([status, ['payload_changed', 'gate_closed'].includes(body.code)]).toEqual([409, true])
  const done = tried.find(({ status }) => status === 201)
  if (done) expect((await vote(viewer, done.body)).status).toBe(201)
  const args = done ? done.body.payload.arguments : gate.payload.arguments
  expect((await ended(execution)).status).toBe('succeeded')
  const calls = await callsOf(workflow)
  expect(calls).toHaveLength(1)
  const { body } = await world().owner.call('GET', `/api/workflows/executions/${calls[0].execution_id}`)
  expect(body.results).toEqual(args)
})

test('a gate that is not about a tool call cannot be edited', async () => {
  const { member, owner } = world()
  const policy = { approvers: [{ kind: 'user', id: member.id }] }
  const workflow = await make('Plain', {
    nodes: [{ id: 'gate', type: 'approval', args: { title: 'Go?', payload: { arguments: { a: 1 } }, policy } }],
    edges: [],
  })
  const run = await owner.call('POST', `/api/workflows/${workflow}/run`, { body: {} })
  const gate = await openGate(run.body.execution_id)
  expect(gate).toMatchObject({ editable: false })
  const refused = await edit(member, gate, { a: 2 })
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
})
