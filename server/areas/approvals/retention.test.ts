import { expect, test } from 'vitest'
import { makeRetention } from '#engine/retention'
import { fromWire } from '#platform/ids'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

const service = useService()

const payment = (approver: string) => ({
  nodes: [
    { id: 'ask', type: 'clarification', args: { question: 'How much?', schema: { type: 'integer' } } },
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Pay?',
        payload: { $ref: 'nodes.ask.output' },
        policy: { approvers: [{ kind: 'user', id: approver }], quorum: 'any' },
      },
    },
  ],
  edges: [{ from: { node: 'ask' }, to: 'gate' }],
})

const noBlobs = {
  put: async () => {},
  putStream: async () => {},
  get: async () => undefined,
  stream: async () => undefined,
  remove: async () => {},
  removeUnder: async () => {},
}

test('questions, gates, votes and answers are deleted with their execution, and those of other executions stay', async () => {
  const { owner, member, viewer, workspace } = await makeWorld(service())
  /** Starts an execution that asks, is answered, has its vote delegated, is approved and ends. */
  const pay = async () => {
    const made = await owner.call('POST', '/api/workflows', { body: { name: 'Pay', definition: payment(member.id) } })
    expect(made.status, made.text).toBe(201)
    const workflow: string = made.body.workflow_id
    const { body } = await owner.call('POST', `/api/workflows/${workflow}/run`, { body: {} })
    const path = `/api/workflows/executions/${body.execution_id}`
    await until(async () => (await owner.call('GET', path)).body.status === 'waiting', 'the question')
    expect((await owner.call('POST', `${path}/respond`, { body: { response: 5 } })).status).toBe(202)
    const gate = await until(async () => (await owner.call('GET', `${path}/approvals`)).body.items[0], 'the gate')
    const of = `/api/approvals/${gate.request_id}`
    expect((await member.call('POST', `${of}/delegate`, { body: { user_id: viewer.id } })).status).toBe(200)
    const vote = { decision: 'approve', payload_sha256: gate.payload_sha256 }
    expect((await viewer.call('POST', `${of}/votes`, { body: vote })).status).toBe(201)
    await until(async () => (await owner.call('GET', path)).body.status === 'succeeded', 'the end')
    return { workflow, path, gate: of }
  }
  const rows = async (table: string) =>
    (await service().sql(`select from ${table} where workspace_id = $1`, [workspace.uuid])).length
  const tables = ['questions', 'approval_requests', 'approval_approvers', 'approval_delegations', 'approval_votes']
  const [forgotten, kept] = [await pay(), await pay()]
  expect(await Promise.all(tables.map(rows))).toEqual([2, 2, 2, 2, 2])

  // A retention of -1 days makes every ended execution old enough.
  const old = { workspace_id: workspace.uuid, workflow_id: fromWire('wf', forgotten.workflow)!, retention_days: -1 }
  const forget = makeRetention({ db: service().db, blobs: noBlobs, retentions: async () => [old] })
  await until(async () => (await forget()) === 1, 'the execution to be deleted after its end')
  expect((await owner.call('GET', forgotten.path)).status).toBe(404)
  for (const person of [owner, viewer]) expect((await person.call('GET', forgotten.gate)).status).toBe(404)
  expect(await Promise.all(tables.map(rows))).toEqual([1, 1, 1, 1, 1])
  expect((await owner.call('GET', kept.gate)).body).toMatchObject({ status: 'approved', payload: 5 })
})
