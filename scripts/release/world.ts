import { toWire } from '#platform/ids'
import { WEBHOOK_SECRET } from '#test/fakes/channels/receiver'
import {
  addMember,
  makePerson,
  makeWorkspace,
  type ServiceAccess,
  type TestPerson,
  type TestWorkspace,
} from '#test/harness/world'

// A small installation with an example of everything, created through the API: two tenants, executions that have ended,
// and executions in each kind of wait.

/** The data that the upgrade test needs to continue. The secrets belong to this fictional installation. */
export type Names = {
  version: string
  secret_key: string
  owner: { key: string; id: string; email: string }
  member: { key: string; id: string; email: string }
  stranger: { key: string; id: string; email: string }
  workspace: string
  elsewhere: string
  workflow: { id: string; versions: number; webhook_token: string }
  ended: { succeeded: string; failed: string; cancelled: string; large: string; elsewhere: string }
  waiting: {
    timer: string
    gate: string
    question: string
    parent: string
    map: string
    job: string[]
    elsewhere: string
  }
  job: string
  dataset: string
  connection: string
  /** The signing secret of the channel is stored encrypted. */
  channel: string
  thread: string
  subscription: string
}

type Call = TestPerson['call']

async function made(answer: ReturnType<Call>, field: string): Promise<string> {
  const { status, text, body } = await answer
  if (status >= 300 || typeof body?.[field] !== 'string') throw new Error(`${status} ${text}`)
  return body[field] as string
}

const done = { id: 'done', type: 'set', args: { values: { done: true } } }
const output = { $ref: 'nodes.done.output' }

const plain = {
  nodes: [{ id: 'done', type: 'set', args: { values: { greeting: { $ref: 'input.greeting' }, done: true } } }],
  edges: [],
  output,
}
const failing = { nodes: [{ id: 'stop', type: 'fail', args: { message: 'broken on purpose' } }], edges: [] }
/** A workflow whose results are stored as a blob. */
const large = {
  nodes: [{ id: 'big', type: 'set', args: { values: { text: 'x'.repeat(33_000) } } }],
  edges: [],
  output: { $ref: 'nodes.big.output' },
}
/** Long enough to be waiting when the dump is made, and over when the dump is restored. */
const timer = {
  nodes: [{ id: 'wait', type: 'wait', args: { for_s: 45 } }, done],
  edges: [{ from: { node: 'wait' }, to: 'done' }],
  output,
}
const question = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema: { type: 'string' } } }, done],
  edges: [{ from: { node: 'ask' }, to: 'done' }],
  output: { $ref: 'nodes.ask.output' },
}
const gate = (approver: string) => ({
  nodes: [
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Go?',
        payload: { amount: 5 },
        policy: { approvers: [{ kind: 'user', id: approver }], quorum: 'any', allow_self: true },
      },
    },
    done,
  ],
  edges: [{ from: { node: 'gate', port: 'approved' }, to: 'done' }],
  output,
})
const child = (workflowId: string) => ({
  nodes: [{ id: 'sub', type: 'subworkflow', args: { workflow_id: workflowId, input: {} } }, done],
  edges: [{ from: { node: 'sub' }, to: 'done' }],
  output: { $ref: 'nodes.sub.output' },
})
const map = {
  nodes: [
    {
      id: 'each',
      type: 'map',
      args: { items: [1, 2, 3], body: { ...question, output: { $ref: 'nodes.ask.output' } } },
    },
    done,
  ],
  edges: [{ from: { node: 'each' }, to: 'done' }],
  output: { $ref: 'nodes.each.output' },
}

const publish = (call: Call, name: string, definition: unknown): Promise<string> =>
  made(call('POST', '/api/workflows', { body: { name, definition } }), 'workflow_id')
const start = (call: Call, workflowId: string, input: unknown = {}): Promise<string> =>
  made(call('POST', `/api/workflows/${workflowId}/run`, { body: { input } }), 'execution_id')

async function untilStatus(call: Call, executionId: string, status: string): Promise<string> {
  for (let look = 0; look < 1500; look++) {
    const { body } = await call('GET', `/api/workflows/executions/${executionId}`)
    if (body.status === status) return executionId
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${executionId} did not become ${status}`)
}

async function fillEnded(call: Call, workflowId: string): Promise<Omit<Names['ended'], 'elsewhere'>> {
  const cancelled = await start(call, await publish(call, 'Cancelled', question))
  await untilStatus(call, cancelled, 'waiting')
  await call('POST', `/api/workflows/executions/${cancelled}/cancel`, { body: {} })
  return {
    succeeded: await untilStatus(call, await start(call, workflowId, { greeting: 'hello' }), 'succeeded'),
    failed: await untilStatus(call, await start(call, await publish(call, 'Failing', failing)), 'failed'),
    cancelled: await untilStatus(call, cancelled, 'cancelled'),
    large: await untilStatus(call, await start(call, await publish(call, 'Large', large)), 'succeeded'),
  }
}

async function fillWorkflow(call: Call): Promise<Names['workflow']> {
  const id = await publish(call, 'Greeting', plain)
  const version = await made(
    call('POST', `/api/workflows/${id}/versions`, { body: { definition: plain } }),
    'version_id',
  )
  await made(call('POST', `/api/workflows/${id}/versions/${version}/activate`, { body: {} }), 'version_id')
  await call('PUT', `/api/workflows/${id}/schedule`, { body: { cron: '0 9 1 1 *', timezone: 'Europe/Berlin' } })
  const webhook_token = await made(call('POST', `/api/workflows/${id}/tokens`, { body: {} }), 'token')
  await made(call('POST', `/api/workflows/${id}/embed-tokens`, { body: {} }), 'token_id')
  return { id, versions: 2, webhook_token }
}

/** Creates everything except executions. */
async function fillRest(call: Call, member: TestPerson) {
  const dataset = await made(
    call('POST', '/api/datasets', { body: { name: 'People', records: [{ name: 'Ann' }, { name: 'Bea' }] } }),
    'dataset_id',
  )
  const job = await made(
    call('POST', '/api/enrichment-jobs', {
      body: { name: 'Ask about people', definition: question, dataset_id: dataset },
    }),
    'job_id',
  )
  const connection = await made(
    call('POST', '/api/connections', { body: { name: 'Shop', kind: 'duckdb', config: {} } }),
    'connection_id',
  )
  const template = await made(call('POST', '/api/templates', { body: { name: 'Desk' } }), 'template_id')
  const channel = await made(
    call('POST', '/api/gateway/channels', {
      body: {
        channel: 'webhook',
        external_id: 'desk',
        template_id: template,
        credentials: { signing_secret: WEBHOOK_SECRET },
      },
    }),
    'config_id',
  )
  const thread = await made(call('POST', '/api/chat-thread', { body: { title: 'Questions' } }), 'thread_id')
  await made(call('POST', `/api/chat-thread/${thread}/messages`, { body: { text: 'Good morning' } }), 'message_id')
  await call('POST', `/api/chat-thread/${thread}/invite`, { body: { email: member.email, role: 'member' } })
  await made(call('POST', '/api/notifications', { body: { title: 'Welcome' } }), 'notification_id')
  const subscription = await made(call('POST', '/api/subscriptions', { body: { name: 'Updates' } }), 'subscription_id')
  const team = await made(call('POST', '/api/teams', { body: { name: 'Night shift' } }), 'team_id')
  await call('POST', `/api/teams/${team}/members`, { body: { user_id: member.id } })
  return { dataset, job, connection, channel, thread, subscription }
}

async function startJob(surface: ServiceAccess, call: Call, job: string): Promise<string[]> {
  await call('POST', `/api/enrichment-jobs/${job}/run-now`)
  for (let look = 0; look < 1500; look++) {
    const rows = await surface.sql<{ execution_id: string }>(
      `select execution_id from executions where trigger_kind = 'job' and status = 'waiting' order by execution_id`,
    )
    if (rows.length === 2) return rows.map(({ execution_id }) => toWire('exe', execution_id))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`the executions of ${job} do not wait`)
}

export async function fillInstallation(surface: ServiceAccess): Promise<Omit<Names, 'version' | 'secret_key'>> {
  const [owner, member, stranger] = [
    await makePerson(surface, { name: 'Olga Owner', email: 'olga@example.com' }),
    await makePerson(surface, { name: 'Max Member', email: 'max@example.com' }),
    await makePerson(surface, { name: 'Sid Stranger', email: 'sid@example.com' }),
  ]
  const workspace: TestWorkspace = await makeWorkspace(surface, owner, 'Home')
  const elsewhere: TestWorkspace = await makeWorkspace(surface, stranger, 'Elsewhere')
  await addMember(surface, workspace, member, 'member')
  const { call } = owner
  const workflow = await fillWorkflow(call)
  const rest = await fillRest(call, member)
  const ended = await fillEnded(call, workflow.id)
  const asking = await publish(call, 'Question', question)
  const of = async (as: TestPerson, name: string, definition: unknown): Promise<string> =>
    untilStatus(as.call, await start(as.call, await publish(as.call, name, definition)), 'waiting')
  const job = await startJob(surface, call, rest.job)
  const waiting = {
    gate: await of(owner, 'Gate', gate(member.id)),
    question: await untilStatus(call, await start(call, asking), 'waiting'),
    parent: await of(owner, 'Parent', child(asking)),
    map: await of(owner, 'Map', map),
    elsewhere: await of(stranger, 'Gate elsewhere', gate(stranger.id)),
    timer: await of(owner, 'Timer', timer),
    job,
  }
  const strangers = await start(stranger.call, await publish(stranger.call, 'Plain', plain), { greeting: 'hello' })
  const nameOf = ({ key, id, email }: TestPerson) => ({ key, id, email })
  return {
    owner: nameOf(owner),
    member: nameOf(member),
    stranger: nameOf(stranger),
    workspace: workspace.id,
    elsewhere: elsewhere.id,
    workflow,
    ended: { ...ended, elsewhere: await untilStatus(stranger.call, strangers, 'succeeded') },
    waiting,
    ...rest,
  }
}
