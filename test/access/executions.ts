import { fromWire } from '#platform/ids'
import { until } from '#test/harness/until'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'
import { makeWorkflow, unseen, version, withBody, workflow } from './workflows.ts'

const asking = {
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema: { type: 'string' } } }],
  edges: [],
  output: { $ref: 'nodes.ask.output' },
}

async function ended(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/run?wait_s=30`, { body: {} })
  return { params: { execution_id: body.execution_id } }
}

/** Prepares a replay of an execution with a version. */
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

/** Cancels earlier replays that have not ended, because they would count against the limit. */
async function runOfVersion(cast: Cast): Promise<Prepared> {
  await cast.service.sql(
    `update replays set status = 'cancelled', finished_at = now() where finished_at is null and workspace_id = $1`,
    [cast.workspace.uuid],
  )
  const prepared = await version(cast)
  await cast.author.call('POST', `/api/workflows/${prepared.params!.workflow_id}/run?wait_s=30`, { body: {} })
  return { ...prepared, body: {} }
}

/** Prepares a try of a draft by the author. */
async function tried(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/try`, {
    body: { definition: { nodes: [], edges: [] } },
  })
  return { params: { execution_id: body.execution_id } }
}

export async function waiting(cast: Cast, graph: unknown = asking): Promise<Prepared> {
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

/** Prepares an execution that has handed out the callback address of its waiting node. */
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

/** Members of the workflow and the person who started the execution see it; for all other members it does not exist. */
const execution = { viewers: rows.hiddenAnyMember, members: rows.hiddenOwnerOrMember }

export const executionCases: Cases = {
  releaseExecution: { expect: rows.operators, prepare: poison, plainParameters: ['execution_id'] },
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
  sendEvent: { expect: rows.selectedWrite, prepare: async () => ({ body: { key: 'order-7' } }) },
  callBackByPost: { expect: rows.anyone, prepare: calledBack, plainParameters: ['callback'] },
  callBackByGet: { expect: rows.anyone, prepare: calledBack, plainParameters: ['callback'] },
  listExecutionApprovals: { expect: execution.viewers, prepare: ended },
  respondToExecution: {
    expect: execution.members,
    prepare: async (cast) => ({ ...(await waiting(cast)), body: { response: 'green' } }),
  },
}
