import { fromWire } from '#platform/ids'
import { until } from '#test/harness/until'
import { type Cases, type Cast, type Expected, kinds, type Prepared, rows, withChanges } from './matrix.ts'

const definition = {
  nodes: [{ id: 'one', type: 'set', args: { values: { a: 1 } } }],
  edges: [],
  output: { $ref: 'nodes.one.output' },
}
const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema: { type: 'string' } } }],
  edges: [],
  output: { $ref: 'nodes.ask.output' },
}
const gated = (approver: string) => ({
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
    { id: 'after', type: 'set', args: { values: { done: true } } },
  ],
  edges: [{ from: { node: 'gate', port: 'approved' }, to: 'after' }],
  output: null,
})

/** A workflow of the author's, with a member and a viewer. */
export async function makeWorkflow(
  { author, resourceMember, resourceViewer }: Cast,
  graph: unknown = definition,
): Promise<string> {
  const members = [
    { user_id: resourceMember.id, role: 'member' },
    { user_id: resourceViewer.id, role: 'viewer' },
  ].filter(({ user_id }) => user_id !== author.id)
  const { body, text } = await author.call('POST', '/api/workflows', {
    body: { name: 'Case', definition: graph, members },
  })
  if (!body?.workflow_id) throw new Error(text)
  return body.workflow_id
}

const workflow = async (cast: Cast): Promise<Prepared> => ({ params: { workflow_id: await makeWorkflow(cast) } })
const withBody =
  (body: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await workflow(cast)), body })

async function version(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/versions`, {
    body: { definition },
  })
  return { params: { ...params, version_id: body.version_id } }
}

async function diff(cast: Cast): Promise<Prepared> {
  const { params } = await version(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/versions`, {
    body: { definition },
  })
  return { params: { workflow_id: params!.workflow_id!, version_a: params!.version_id!, version_b: body.version_id } }
}

const token =
  (path: string, more: Partial<Prepared> = {}) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/${path}`, { body: {} })
    return { params: { ...params, token_id: body.token_id }, ...more }
  }

/** Offered by the author to a member of the workflow. */
async function offered(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/transfer`, {
    body: { user_id: cast.resourceMember.id },
  })
  return { params: params! }
}

const schedule = { cron: '0 9 * * *', timezone: 'UTC' }
async function scheduled(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  await cast.author.call('PUT', `/api/workflows/${params!.workflow_id}/schedule`, { body: schedule })
  return { params: params! }
}

const oneSchedule =
  (body?: unknown) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const made = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/schedules`, { body: schedule })
    return { params: { ...params, schedule_id: made.body.schedule_id }, ...(body !== undefined && { body }) }
  }

async function ended(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/run?wait_s=30`, { body: {} })
  return { params: { execution_id: body.execution_id } }
}

/** A version held against a run. */
async function replayed(cast: Cast): Promise<Prepared> {
  const { params } = await runOfVersion(cast)
  const { body } = await cast.author.call(
    'POST',
    `/api/workflows/${params!.workflow_id}/versions/${params!.version_id}/replay`,
    { body: {} },
  )
  await cast.service.sql(
    `update replays set status = 'queued', finished_at = null, lease_until = now() + interval '1 hour', epoch = epoch + 1
     where replay_id = $1`,
    [fromWire('rpl', body.replay_id)],
  )
  return { params: { replay_id: body.replay_id } }
}

/** An earlier replay that is not over would count against the next. */
async function runOfVersion(cast: Cast): Promise<Prepared> {
  await cast.service.sql(
    `update replays set status = 'cancelled', finished_at = now() where finished_at is null and workspace_id = $1`,
    [cast.workspace.uuid],
  )
  const prepared = await version(cast)
  await cast.author.call('POST', `/api/workflows/${prepared.params!.workflow_id}/run?wait_s=30`, { body: {} })
  return { ...prepared, body: {} }
}

/** A draft that the author tried. */
async function tried(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/try`, {
    body: { definition: { nodes: [], edges: [] } },
  })
  return { params: { execution_id: body.execution_id } }
}

async function waiting(cast: Cast, graph: unknown = asking): Promise<Prepared> {
  const workflowId = await makeWorkflow(cast, graph)
  const { body } = await cast.author.call('POST', `/api/workflows/${workflowId}/run`, { body: {} })
  await untilWaiting(cast, body.execution_id)
  return { params: { execution_id: body.execution_id } }
}

async function untilWaiting(cast: Cast, executionId: string): Promise<void> {
  await until(async () => {
    const { body } = await cast.author.call('GET', `/api/workflows/executions/${executionId}`)
    return body.status === 'waiting'
  }, `the wait of ${executionId}`)
}

async function poison(cast: Cast): Promise<Prepared> {
  const prepared = await waiting(cast)
  await cast.service.sql(
    `update executions set crashes = 5, due_at = null, waiting_for = '[{"kind": "slot", "reason": "poison", "since": "2026-01-31T00:00:00Z"}]'
     where execution_id = $1`,
    [fromWire('exe', prepared.params!.execution_id!)],
  )
  return prepared
}

async function gate(cast: Cast): Promise<Prepared> {
  const { params } = await waiting(cast, gated(cast.author.id))
  const { body } = await cast.author.call('GET', `/api/workflows/executions/${params!.execution_id}/approvals`)
  const [request] = body.items
  return {
    params: { request_id: request.request_id },
    body: { decision: 'approve', payload_sha256: request.payload_sha256 },
  }
}

/** An answer that later questions may use. */
async function kept(cast: Cast): Promise<Prepared> {
  const definition = {
    nodes: [
      { id: 'ask', type: 'clarification', args: { question: 'Which?', schema: {}, reuse: { key: 'k', for_s: 60 } } },
    ],
  }
  await cast.service.sql('update questions set withdrawn_at = now() where workspace_id = $1', [cast.workspace.uuid])
  const { params } = await waiting(cast, definition)
  const { body } = await cast.author.call('POST', `/api/workflows/executions/${params!.execution_id}/respond`, {
    body: { response: 'green' },
  })
  return { params: { clarification_id: body.clarification_id as string } }
}

const links = new WeakMap<Cast, Promise<Prepared>>()

/** The link of the mail that the approver gets. Nobody here answers through it, so one is enough. */
async function mailed(cast: Cast): Promise<Prepared> {
  if (!links.has(cast)) links.set(cast, makeLink(cast))
  await cast.service.sql('update reach_messages set codes_sent = 0')
  return links.get(cast)!
}

async function makeLink(cast: Cast): Promise<Prepared> {
  const { author, service } = cast
  const preferences = [{ kind: 'approval.requested', app: true, mail: true }]
  await author.call('PUT', '/api/notifications/preferences', { body: { preferences } })
  await service.sql('delete from mail_outbox where $1 = any (recipient)', [author.email])
  await gate(cast)
  const text = await until(async () => {
    const [row] = await service.sql<{ body_text: string }>(
      'select body_text from mail_outbox where $1 = any (recipient)',
      [author.email],
    )
    return row?.body_text
  }, 'the mail')
  return { params: { interaction: /\/answer\/([\w-]+)/.exec(text)![1]! } }
}

async function blob(cast: Cast): Promise<Prepared> {
  const large = {
    nodes: [{ id: 'big', type: 'set', args: { values: { text: 'x'.repeat(40_000) } } }],
    edges: [],
    output: null,
  }
  const workflowId = await makeWorkflow(cast, large)
  const { body } = await cast.author.call('POST', `/api/workflows/${workflowId}/run?wait_s=30`, { body: {} })
  const sha256 = body.nodes[0].output.$blob.split('/').at(-1)
  return { params: { execution_id: body.execution_id, sha256 } }
}

/** A workflow whose run has stored something. */
async function remembering(cast: Cast): Promise<Prepared> {
  const storing = { nodes: [{ id: 's', type: 'state.set', args: { key: 'cursor', value: 7 } }], edges: [] }
  const workflow_id = await makeWorkflow(cast, storing)
  await cast.author.call('POST', `/api/workflows/${workflow_id}/run?wait_s=30`, { body: {} })
  return { params: { workflow_id, key: 'cursor' } }
}

async function hook(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/tokens`, { body: {} })
  return { params: params!, token: body.token, body: {} }
}
/** The token is in the address: anyone who has that may call. */
const inbound =
  (method: string) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/tokens`, {
      body: { auth: 'url', methods: [method] },
    })
    return { params: { token_or_id: body.token } }
  }
const byAddress = (method: string) => ({
  expect: rows.anyone,
  prepare: inbound(method),
  plainParameters: ['token_or_id'],
})
/** A run that has given the address of its waiting node away. */
async function calledBack(cast: Cast): Promise<Prepared> {
  const { params } = await waiting(cast, {
    nodes: [
      { id: 'hand', type: 'set', args: { values: { url: { $ref: 'callbacks.w.url' } } } },
      { id: 'w', type: 'wait.event', args: {} },
    ],
    edges: [{ from: { node: 'hand' }, to: 'w' }],
  })
  const { body } = await cast.author.call('GET', `/api/workflows/executions/${params!.execution_id}`)
  const { output } = body.nodes.find(({ node_id }: { node_id: string }) => node_id === 'hand')
  return { params: { callback: new URL(output.url).pathname.split('/').at(-1)! } }
}
async function hooked(cast: Cast): Promise<Prepared> {
  const prepared = await hook(cast)
  const { body } = await cast.service.call('POST', `/api/webhooks/workflow/${prepared.params!.workflow_id}/trigger`, {
    token: prepared.token!,
    body: {},
  })
  return { params: { ...prepared.params, execution_id: body.execution_id }, token: prepared.token! }
}

/** Readable in the whole workspace; guests see only what they were invited to. */
const seenByWorkspace = withChanges(rows.workspaceRead, { guest: 404 })
const unseen = { guest: 404 } as const
/** Executions: members of the workflow and who started it; for other colleagues there is no such execution. */
const execution = { viewers: rows.hiddenAnyMember, members: rows.hiddenOwnerOrMember }

/** Looks at an address that is refused, so that nothing leaves. */
const newTrigger = { service: 'rss', trigger: 'new_item', args: { url: 'http://127.0.0.1:9/feed' } }
const triggered = async (cast: Cast) => {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/triggers`, {
    body: newTrigger,
  })
  return { params: { ...params, trigger_id: body.trigger_id as string } }
}

const commented =
  (body?: unknown) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const made = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/comments`, {
      body: { body: 'Looks good' },
    })
    return {
      params: { ...params, comment_id: made.body.comment_id as string },
      ...(body !== undefined && { body }),
    }
  }

const newAlertRule = (workflow_id: string) => ({ name: 'Fails', kind: 'failure_rate', workflow_id, threshold: 0.5 })

async function alertRule(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', '/api/alert-rules', { body: newAlertRule(params!.workflow_id!) })
  return { params: { rule_id: body.rule_id } }
}

export const workflowCases: Cases = {
  callMcp: { expect: rows.selectedRead, prepare: async () => ({ body: { jsonrpc: '2.0', id: 1, method: 'ping' } }) },
  getEngineHealth: { expect: rows.operators },
  listAlertRules: { expect: rows.selectedRead },
  // Who does not see the workflow names one that is not there.
  createAlertRule: {
    expect: withChanges(rows.selectedWrite, { stranger: 422, operator: 422, member: 422 }),
    prepare: async (cast) => ({ body: newAlertRule((await workflow(cast)).params!.workflow_id!) }),
  },
  getAlertRule: { expect: withChanges(rows.hiddenAnyMember, { workspaceOwner: 'ok' }), prepare: alertRule },
  updateAlertRule: {
    expect: withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 'ok' }),
    prepare: async (cast) => ({ ...(await alertRule(cast)), body: { enabled: false } }),
  },
  deleteAlertRule: { expect: withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 'ok' }), prepare: alertRule },
  listBudgets: { expect: rows.selectedRead },
  putBudgets: {
    expect: rows.selectedOwnerOnly,
    prepare: async () => ({ body: { budgets: [{ scope: 'workspace', limit: 1000, per: 'month' }] } }),
  },
  getRunInsights: { expect: rows.selectedRead },
  getStepInsights: { expect: rows.selectedRead },
  getUsageInsights: { expect: rows.selectedRead },
  getModelPrices: { expect: rows.operators },
  putModelPrices: {
    expect: rows.operators,
    prepare: async () => ({ body: { prices: [{ model: 'openai/gpt-4o', input: 2.5, output: 10 }] } }),
  },
  // Only the program itself looks after keys.
  getKeyRotation: { expect: withChanges(rows.operators, { operator: 503 }) },
  rotateKey: { expect: withChanges(rows.operators, { operator: 503 }), prepare: async () => ({ body: {} }) },
  trustWorkspace: {
    expect: rows.operators,
    prepare: async ({ workspace }) => ({ params: { workspace_id: workspace.id }, body: { trusted: true } }),
    plainParameters: ['workspace_id'],
  },
  releaseExecution: { expect: rows.operators, prepare: poison, plainParameters: ['execution_id'] },
  listOutbox: { expect: rows.operators },
  listWorkflows: { expect: rows.selectedRead },
  createWorkflow: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made', definition } }) },
  getRegistry: { expect: rows.selectedRead },
  getPalette: { expect: rows.selectedRead },
  fetchOdds: {
    expect: Object.fromEntries(
      Object.entries(rows.selectedRead).map(([kind, status]) => [kind, status === 'ok' ? 503 : status]),
    ) as typeof rows.selectedRead,
    prepare: async () => ({ body: { date: '2026-01-31' } }),
  },
  getWorkflow: { expect: seenByWorkspace, prepare: workflow },
  updateWorkflow: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({ name: 'Renamed' }) },
  deleteWorkflow: { expect: withChanges(rows.ownerOnly, unseen), prepare: workflow },
  pauseWorkflow: { expect: withChanges(rows.ownerOnly, unseen), prepare: workflow },
  resumeWorkflow: { expect: withChanges(rows.ownerOnly, unseen), prepare: workflow },
  // What the caller may not delete is refused in the answer.
  deleteWorkflows: {
    expect: rows.selectedRead,
    prepare: async (cast) => ({ body: { workflow_ids: [await makeWorkflow(cast)] } }),
  },
  listVersions: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  createVersion: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({ definition }) },
  getVersion: { expect: withChanges(rows.anyMember, unseen), prepare: version },
  activateVersion: { expect: withChanges(rows.ownerOnly, unseen), prepare: version },
  diffVersions: { expect: withChanges(rows.anyMember, unseen), prepare: diff },
  exportWorkflow: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  importWorkflow: {
    expect: rows.selectedWrite,
    prepare: async () => ({ body: { document: { name: 'Brought', definition } } }),
  },
  getWorkflowUse: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  listTransfers: { expect: rows.selectedRead },
  offerWorkflow: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: async (cast) => ({ ...(await workflow(cast)), body: { user_id: cast.resourceMember.id } }),
  },
  // Only for whom it is between; to all others there is no offer.
  getTransfer: { expect: withChanges(rows.hiddenOwnerOrMember, { resourceViewer: 404 }), prepare: offered },
  withdrawTransfer: { expect: withChanges(rows.ownerOnly, unseen), prepare: offered },
  acceptTransfer: {
    expect: withChanges(rows.hiddenOwnerOrMember, { author: 404, resourceViewer: 404 }),
    prepare: offered,
  },
  declineTransfer: {
    expect: withChanges(rows.hiddenOwnerOrMember, { author: 404, resourceViewer: 404 }),
    prepare: offered,
  },
  listWorkflowState: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  getWorkflowState: {
    expect: withChanges(rows.ownerOrMember, unseen),
    prepare: remembering,
    plainParameters: ['key'],
  },
  deleteWorkflowState: { expect: withChanges(rows.ownerOnly, unseen), prepare: remembering, plainParameters: ['key'] },
  clearWorkflowState: { expect: withChanges(rows.ownerOnly, unseen), prepare: workflow },
  listComments: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  createComment: { expect: withChanges(rows.anyMember, unseen), prepare: withBody({ body: 'Looks good' }) },
  getComment: { expect: withChanges(rows.anyMember, unseen), prepare: commented() },
  updateComment: { expect: withChanges(rows.ownerOnly, unseen), prepare: commented({ body: 'Looks better' }) },
  resolveComment: { expect: withChanges(rows.anyMember, unseen), prepare: commented({ resolved: true }) },
  deleteComment: { expect: withChanges(rows.ownerOnly, unseen), prepare: commented() },
  listTriggers: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createTrigger: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(newTrigger) },
  getTrigger: { expect: withChanges(rows.ownerOrMember, unseen), prepare: triggered },
  deleteTrigger: { expect: withChanges(rows.ownerOnly, unseen), prepare: triggered },
  listWebhookTokens: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createWebhookToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({}) },
  getWebhookToken: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('tokens') },
  updateWebhookToken: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: token('tokens', { body: { enabled: false } }),
  },
  deleteWebhookToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: token('tokens') },
  listEmbedTokens: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createEmbedToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({}) },
  getEmbedToken: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('embed-tokens') },
  updateEmbedToken: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: token('embed-tokens', { body: { enabled: false } }),
  },
  deleteEmbedToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: token('embed-tokens') },
  listSchedules: { expect: withChanges(rows.anyMember, unseen), prepare: scheduled },
  createSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(schedule) },
  getOneSchedule: { expect: withChanges(rows.anyMember, unseen), prepare: oneSchedule() },
  updateSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: oneSchedule({ enabled: false }) },
  removeSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: oneSchedule() },
  backfillSchedule: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: oneSchedule({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  },
  getSchedule: { expect: withChanges(rows.anyMember, unseen), prepare: scheduled },
  putSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(schedule) },
  deleteSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: scheduled },
  runWorkflow: { expect: withChanges(rows.ownerOrMember, unseen), prepare: withBody({ input: {} }) },
  tryWorkflow: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: withBody({ definition: { nodes: [], edges: [] } }),
  },
  createReplay: { expect: withChanges(rows.ownerOrMember, unseen), prepare: runOfVersion },
  listReplays: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  getReplay: { expect: rows.hiddenAnyMember, prepare: replayed },
  cancelReplay: { expect: rows.hiddenOwnerOrMember, prepare: replayed },
  getTrial: { expect: execution.viewers, prepare: tried },
  runWorkflowBatch: { expect: withChanges(rows.ownerOrMember, unseen), prepare: withBody({ runs: [{ input: {} }] }) },
  listExecutions: { expect: withChanges(rows.anyMember, unseen), prepare: workflow },
  getExecution: { expect: execution.viewers, prepare: ended },
  getExecutionNode: {
    expect: execution.viewers,
    prepare: async (cast) => ({ params: { ...(await ended(cast)).params, path: 'one' } }),
    plainParameters: ['path'],
  },
  runSystemWorkflow: {
    expect: rows.selectedWrite,
    prepare: async () => ({ params: { workflow_id: 'echo' }, body: {} }),
    plainParameters: ['workflow_id'],
  },
  listSystemExecutions: {
    expect: rows.selectedRead,
    prepare: async () => ({ params: { workflow_id: 'echo' } }),
    plainParameters: ['workflow_id'],
  },
  startBulk: {
    expect: rows.selectedWrite,
    prepare: async () => ({ body: { action: 'cancel', filter: { tag: 'nothing has it' } } }),
  },
  getBulk: {
    expect: withChanges(rows.ownOnly, { guest: 403 }),
    prepare: async ({ author }) => {
      const { body } = await author.call('POST', '/api/executions/bulk', {
        body: { action: 'cancel', filter: { tag: 'nothing has it' } },
      })
      return { params: { bulk_id: body.bulk_id } }
    },
  },
  searchExecutions: { expect: rows.selectedRead },
  cancelExecution: { expect: execution.members, prepare: waiting },
  retryExecution: { expect: execution.members, prepare: ended },
  listExecutionEvents: { expect: execution.viewers, prepare: ended },
  listExecutionLogs: { expect: execution.viewers, prepare: ended },
  getExecutionReceipt: { expect: execution.viewers, prepare: ended },
  getReceiptKey: { expect: rows.anyone },
  createWorkflowTicket: { expect: execution.viewers, prepare: ended },
  readExecutionBlob: { expect: execution.viewers, prepare: blob, plainParameters: ['sha256'] },
  triggerWebhook: { expect: rows.byToken, prepare: hook },
  getWebhookExecution: { expect: rows.byToken, prepare: hooked },
  listWebhookDeliveries: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('tokens') },
  sendEvent: { expect: rows.selectedWrite, prepare: async () => ({ body: { key: 'order-7' } }) },
  callBackByPost: { expect: rows.anyone, prepare: calledBack, plainParameters: ['callback'] },
  callBackByGet: { expect: rows.anyone, prepare: calledBack, plainParameters: ['callback'] },
  receiveByGet: byAddress('GET'),
  receiveByPost: byAddress('POST'),
  receiveByPut: byAddress('PUT'),
  receiveByPatch: byAddress('PATCH'),
  receiveByDelete: byAddress('DELETE'),
  readWebhookResults: { expect: rows.byToken, prepare: hooked },
  listInbox: { expect: rows.selectedRead },
  listDecided: { expect: rows.selectedRead },
  listQuestionInbox: { expect: rows.selectedRead },
  listAgreement: { expect: rows.selectedRead },
  // Anyone who sees the execution sees its gates; only those the policy names may vote.
  getApproval: { expect: rows.hiddenAnyMember, prepare: async (cast) => ({ params: (await gate(cast)).params! }) },
  castVote: { expect: rows.hiddenOwnerOnly, prepare: gate },
  listKeptAnswers: { expect: rows.selectedRead },
  withdrawAnswer: {
    // The author answered; owners of the workspace may withdraw it, too.
    expect: withChanges(rows.hiddenOwnerOnly, {
      guest: 403,
      workspaceOwner: 'ok',
      resourceMember: 404,
      resourceViewer: 404,
    }),
    prepare: kept,
  },
  getInteraction: { expect: rows.anyone, prepare: mailed, plainParameters: ['interaction'] },
  sendInteractionCode: { expect: rows.anyone, prepare: mailed, plainParameters: ['interaction'] },
  // The link is not enough: a session of its person, or a code, proves who answers.
  answerInteraction: {
    expect: Object.fromEntries(kinds.map((kind) => [kind, 403])) as Expected,
    prepare: async (cast) => ({
      ...(await mailed(cast)),
      body: { decision: 'approve', payload_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    }),
    plainParameters: ['interaction'],
  },
  delegateVote: {
    expect: rows.hiddenOwnerOnly,
    prepare: async (cast) => ({
      params: (await gate(cast)).params!,
      body: { user_id: cast.member.id === cast.author.id ? cast.author.id : cast.member.id },
    }),
  },
  listExecutionApprovals: { expect: execution.viewers, prepare: ended },
  respondToExecution: {
    expect: execution.members,
    prepare: async (cast) => ({ ...(await waiting(cast)), body: { response: 'green' } }),
  },
}
