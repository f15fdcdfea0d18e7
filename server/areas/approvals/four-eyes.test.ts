import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { makeDataset, makeJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, visit } from '#test/harness/widget'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// `allow_self: false` requires that another person approves. These tests try every way in which one person could start
// an execution and then approve it: Max starts it, and Vera must approve it.

const service = useSharedService()
let world: World
/** Olga's workflow. Max may run it and is one of its approvers. */
let payment: string

const gateFor = (approvers: unknown[], more: object = {}) => ({
  nodes: [{ id: 'gate', type: 'approval', args: { title: 'Pay?', payload: 5, policy: { approvers, ...more } } }],
  edges: [],
  output: { $ref: 'nodes.gate.output.status' },
})
const person = ({ id }: TestPerson) => ({ kind: 'user', id })

beforeAll(async () => {
  world = await makeWorld(service())
  payment = await makeWorkflow(world.owner, 'Pay', gateFor([person(world.member), person(world.viewer)]), {
    members: [{ user_id: world.member.id, role: 'member' }],
  })
})

type Run = { execution_id: string }
const runsOf = async (workflow: string): Promise<Run[]> =>
  (await world.owner.call('GET', `/api/workflows/${workflow}/executions?limit=200&include_jobs=true`)).body.items

/** Returns the execution of the payment workflow that `start` leads to, directly or indirectly. */
async function runAfter(start: () => Promise<unknown>): Promise<string> {
  const before = new Set((await runsOf(payment)).map(({ execution_id }) => execution_id))
  await start()
  const run = await until(
    async () => (await runsOf(payment)).find(({ execution_id }) => !before.has(execution_id)),
    'the payment to start',
  )
  return run.execution_id
}

const gateOf = (execution: string) =>
  until(
    async () => (await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)).body.items[0],
    'the gate',
  )

const vote = (who: TestPerson, gate: { request_id: string; payload_sha256: string }) =>
  who.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
  })

/**
 * Checks that Max is excluded for this reason and can neither vote nor receive a delegated vote, and that Vera's vote
 * opens the gate.
 */
async function needsVera(execution: string, reason: string, kind: string): Promise<void> {
  const gate = await gateOf(execution)
  expect(gate.excluded).toEqual([{ user_id: world.member.id, name: world.member.name, reason }])
  expect(gate.outstanding).toMatchObject([{ id: world.viewer.id }])
  const refused = await vote(world.member, gate)
  expect([refused.status, refused.body.detail]).toEqual([403, `Somebody else must approve this: you ${reason}.`])
  const handed = await world.viewer.call('POST', `/api/approvals/${gate.request_id}/delegate`, {
    body: { user_id: world.member.id },
  })
  expect([handed.status, handed.body.errors[0].path]).toEqual([422, '/user_id'])
  const inbox = await world.member.call('GET', '/api/approvals/inbox?limit=200')
  expect(inbox.body.items.map(({ request_id }: { request_id: string }) => request_id)).not.toContain(gate.request_id)
  const run = (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body
  expect(run.initiated_by).toContainEqual(expect.objectContaining({ kind, user_id: world.member.id }))
  expect(run.principal_id).toBe(world.owner.id)
  expect((await vote(world.viewer, gate)).status).toBe(201)
}

const startedBy = async (who: TestPerson, workflow = payment): Promise<string> =>
  (await who.call('POST', `/api/workflows/${workflow}/run`, { body: {} })).body.execution_id

describe('a person may not approve an execution that they led to', () => {
  test('by starting it', async () => {
    await needsVera(await startedBy(world.member), 'started the execution', 'person')
  })

  test('by a webhook of their own workflow that starts it', async () => {
    const own = await makeWorkflow(world.member, 'Mine', {
      nodes: [{ id: 'pay', type: 'subworkflow', args: { workflow_id: payment } }],
      edges: [],
    })
    const { body } = await world.member.call('POST', `/api/workflows/${own}/tokens`, { body: {} })
    const execution = await runAfter(() =>
      service().call('POST', `/api/webhooks/workflow/${own}/trigger`, { token: body.token, body: {} }),
    )
    const gate = await gateOf(execution)
    expect(gate.excluded[0].reason).toBe(
      'activated the workflow that started it as a sub-workflow and also created the webhook token that started it',
    )
    await needsVera(execution, gate.excluded[0].reason, 'webhook_token')
  })

  test('by their own workflow that another person starts for them', async () => {
    const own = await makeWorkflow(
      world.member,
      'Please press the button',
      { nodes: [{ id: 'pay', type: 'subworkflow', args: { workflow_id: payment } }], edges: [] },
      { members: [{ user_id: world.owner.id, role: 'member' }] },
    )
    const execution = await runAfter(() => startedBy(world.owner, own))
    await needsVera(execution, 'activated the workflow that started it as a sub-workflow', 'execution')
  })

  test('by a widget of their own template', async () => {
    const template = await makeTemplate(world.member, [payment])
    const { token } = await makeToken(world.member, `/api/templates/${template}`)
    const visitor = await visit(service(), template, token)
    const execution = await runAfter(() => visitor.chat('Pay'))
    const reason = 'created the embed token that started it and also added the workflow to the template that started it'
    await needsVera(execution, reason, 'template')
  })

  test('by their own channel', async () => {
    const template = await makeTemplate(world.member, [payment])
    const made = await world.member.call('POST', '/api/gateway/channels', {
      body: {
        channel: 'email',
        external_id: 'pay@acme.example',
        template_id: template,
        credentials: { inbound_secret: 'inbound-secret-1' },
      },
    })
    const execution = await runAfter(() =>
      service().call('POST', `/gateway/email/${made.body.config_id}`, {
        raw: JSON.stringify({ from: 'x@example.org', subject: 'Pay', text: 'Pay', message_id: '<1@example.org>' }),
        headers: { 'content-type': 'application/json', 'x-inbound-secret': 'inbound-secret-1' },
      }),
    )
    const reason = 'set up the channel that started it and also added the workflow to the template that started it'
    await needsVera(execution, reason, 'channel')
  })

  test('by the failure of their own workflow', async () => {
    const own = await makeWorkflow(
      world.member,
      'Fails',
      { nodes: [{ id: 'no', type: 'fail', args: { message: 'on purpose' } }], edges: [] },
      { settings: { error_workflow_id: payment } },
    )
    const execution = await runAfter(() => startedBy(world.member, own))
    const reason = 'activated the workflow whose failure started it and also started the execution'
    await needsVera(execution, reason, 'error_workflow')
  })

  test('by their own job, also when its schedule starts it', async () => {
    const dataset = await makeDataset(world.member, [{ n: 1 }])
    const job = await makeJob(world.member, { workflow_id: payment, dataset_id: dataset, mapping: {} })
    const execution = await runAfter(() =>
      service().sql('update enrichment_jobs set due_at = now() where job_id = $1', [fromWire('job', job)]),
    )
    await needsVera(execution, 'owned the job that started it', 'job')
  })

  test('by a schedule of their own workflow', async () => {
    const own = await makeWorkflow(world.member, 'Nightly', {
      nodes: [{ id: 'pay', type: 'subworkflow', args: { workflow_id: payment } }],
      edges: [],
    })
    const put = await world.member.call('PUT', `/api/workflows/${own}/schedule`, { body: { cron: '0 3 1 1 *' } })
    expect(put.status, put.text).toBe(200)
    const execution = await runAfter(() =>
      service().sql('update schedules set next_run_at = now() where workflow_id = $1', [fromWire('wf', own)]),
    )
    const reason =
      'activated the workflow that started it as a sub-workflow and also created the schedule that started it'
    await needsVera(execution, reason, 'schedule')
  })

  test('by retrying the execution of another person, or by another person retrying theirs', async () => {
    const theirs = await startedBy(world.owner)
    await world.owner.call('POST', `/api/workflows/executions/${theirs}/cancel`)
    await until(
      async () => (await world.owner.call('GET', `/api/workflows/executions/${theirs}`)).body.status === 'cancelled',
      'the end',
    )
    const execution = await runAfter(() =>
      world.member.call('POST', `/api/workflows/executions/${theirs}/retry`, { body: {} }),
    )
    const gate = await gateOf(execution)
    expect(gate.excluded).toMatchObject([{ user_id: world.member.id, reason: 'retried the execution' }])
    await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`)
    await until(
      async () => (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body.status === 'cancelled',
      'the end',
    )
    const again = await runAfter(() =>
      world.owner.call('POST', `/api/workflows/executions/${execution}/retry`, { body: {} }),
    )
    await needsVera(again, 'retried the execution', 'retry')
  })
})

describe('two workflows of the same author', () => {
  test('exclude no person as an author: the sub-workflow acts for the same person', async () => {
    const part = await makeWorkflow(world.member, 'Part', gateFor([person(world.member)]))
    const whole = await makeWorkflow(
      world.member,
      'Whole',
      { nodes: [{ id: 'part', type: 'subworkflow', args: { workflow_id: part } }], edges: [] },
      { members: [{ user_id: world.owner.id, role: 'member' }] },
    )
    await startedBy(world.owner, whole)
    const [gate] = await until(async () => {
      const { items } = (await world.member.call('GET', '/api/approvals/inbox?limit=200')).body
      return items.length > 0 ? items : undefined
    }, 'the gate in the inbox')
    expect(gate.excluded).toEqual([])
    expect((await vote(world.member, gate)).status).toBe(201)
  })
})

describe('a gate that no remaining person can open', () => {
  const endOf = (execution: string) =>
    until(async () => {
      const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
      return body.status === 'failed' ? body : undefined
    }, 'the failure')

  test('fails when the execution reaches it, and reports who is excluded and why', async () => {
    const alone = await makeWorkflow(world.owner, 'Alone', gateFor([person(world.owner)]))
    const { error } = await endOf(await startedBy(world.owner, alone))
    expect(error).toMatchObject({
      code: 'approvers_excluded',
      details: { excluded: [{ user_id: world.owner.id, name: world.owner.name }] },
    })
    expect(error.message).toContain(`${world.owner.name} started the execution`)
  })

  test('asks the people in escalate_to at once if the policy escalates', async () => {
    const policy = { on_due: 'escalate', due_in_s: 3600, escalate_to: [person(world.viewer)] }
    const escalating = await makeWorkflow(world.owner, 'Escalates', gateFor([person(world.owner)], policy))
    const gate = await gateOf(await startedBy(world.owner, escalating))
    expect(gate).toMatchObject({ status: 'open', unsatisfiable: false, outstanding: [{ id: world.viewer.id }] })
    expect((await vote(world.viewer, gate)).status).toBe(201)
  })

  test('also fails if the people in escalate_to led to the execution', async () => {
    const policy = { on_due: 'escalate', due_in_s: 3600 }
    const escalating = await makeWorkflow(world.owner, 'Escalates', gateFor([person(world.owner)], policy))
    expect((await endOf(await startedBy(world.owner, escalating))).error.code).toBe('approvers_excluded')
  })
})

describe('an execution that an older release stored', () => {
  test('has only its starter as an initiator, and acts for the owner', async () => {
    const execution = await startedBy(world.member)
    await gateOf(execution)
    await service().sql('update executions set initiated_by = null, principal_id = null where execution_id = $1', [
      fromWire('exe', execution),
    ])
    await service().sql('update approval_requests set initiators = null where execution_id = $1', [
      fromWire('exe', execution),
    ])
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    expect(body.principal_id).toBe(world.owner.id)
    expect(body.initiated_by).toEqual([{ kind: 'person', id: world.member.id, user_id: world.member.id }])
    expect((await gateOf(execution)).excluded).toMatchObject([{ reason: 'started the execution' }])
  })
})
