import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'

const definition = {
  nodes: [{ id: 'one', type: 'set', args: { values: { a: 1 } } }],
  edges: [],
  output: { $ref: 'nodes.one.output' },
}

/** Creates a workflow that the author owns, with a member and a viewer. */
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

export const workflow = async (cast: Cast): Promise<Prepared> => ({ params: { workflow_id: await makeWorkflow(cast) } })

export const withBody =
  (body: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await workflow(cast)), body })

export async function version(cast: Cast): Promise<Prepared> {
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

/** Prepares a transfer that the author offers to a member of the workflow. */
async function offered(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/transfer`, {
    body: { user_id: cast.resourceMember.id },
  })
  return { params: params! }
}

/** Prepares a workflow with an execution that has stored a value. */
async function remembering(cast: Cast): Promise<Prepared> {
  const storing = { nodes: [{ id: 's', type: 'state.set', args: { key: 'cursor', value: 7 } }], edges: [] }
  const workflow_id = await makeWorkflow(cast, storing)
  await cast.author.call('POST', `/api/workflows/${workflow_id}/run?wait_s=30`, { body: {} })
  return { params: { workflow_id, key: 'cursor' } }
}

/** Everyone in the workspace can read it; guests see only what they were invited to. */
const seenByWorkspace = withChanges(rows.workspaceRead, { guest: 404 })

export const unseen = { guest: 404 } as const

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
  // For a caller who does not see the workflow, the workflow does not exist.
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
  // Only the program manages keys; the service alone answers 503.
  getKeyRotation: { expect: withChanges(rows.operators, { operator: 503 }) },
  rotateKey: { expect: withChanges(rows.operators, { operator: 503 }), prepare: async () => ({ body: {} }) },
  trustWorkspace: {
    expect: rows.operators,
    prepare: async ({ workspace }) => ({ params: { workspace_id: workspace.id }, body: { trusted: true } }),
    plainParameters: ['workspace_id'],
  },
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
  // The response lists each workflow that the caller may not delete.
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
  // Only the two people of the transfer see it; for all others it does not exist.
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
}
