import { beforeAll, expect, test } from 'vitest'
import { fromWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// A retry keeps the votes of the execution that it repeats, as long as it would ask for the same again.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Gate = { payload: unknown; quorum?: string; amount?: number }

/** The payment fails after the approval, unless `pays`. */
const definitionOf = ({ payload, quorum = 'any', amount = 1 }: Gate, pays: boolean) => ({
  nodes: [
    { id: 'sum', type: 'set', args: { values: { amount } } },
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Pay?',
        payload,
        policy: { approvers: [{ kind: 'role', id: 'owner' }], quorum, allow_self: true },
      },
    },
    pays
      ? { id: 'pay', type: 'set', args: { values: { paid: true } } }
      : { id: 'pay', type: 'fail', args: { code: 'broken', message: 'as told' } },
  ],
  edges: [
    { from: { node: 'sum' }, to: 'gate' },
    { from: { node: 'gate', port: 'approved' }, to: 'pay' },
  ],
})

const whenIn = (execution: string, ...statuses: string[]) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return statuses.includes(body.status) ? body : undefined
  }, statuses.join(' or '))

/** Returns the status of a retry with the active version, of an execution that failed after its approval. */
async function retryAfter(first: Gate, second: Gate): Promise<string> {
  const { owner, member } = world
  const body = {
    name: 'Pay',
    definition: definitionOf(first, false),
    members: [{ user_id: member.id, role: 'member' }],
  }
  const { workflow_id } = (await owner.call('POST', '/api/workflows', { body })).body
  const { execution_id } = (await member.call('POST', `/api/workflows/${workflow_id}/run`, { body: {} })).body
  await whenIn(execution_id, 'waiting')
  const [gate] = (await owner.call('GET', `/api/workflows/executions/${execution_id}/approvals`)).body.items
  const vote = { decision: 'approve', payload_sha256: gate.payload_sha256 }
  expect((await owner.call('POST', `/api/approvals/${gate.request_id}/votes`, { body: vote })).status).toBeLessThan(300)
  await whenIn(execution_id, 'failed')
  const version = { definition: definitionOf(second, true), activate: true }
  expect((await owner.call('POST', `/api/workflows/${workflow_id}/versions`, { body: version })).status).toBe(201)
  const retry = { from: 'failed', version: 'active' }
  const again = await member.call('POST', `/api/workflows/executions/${execution_id}/retry`, { body: retry })
  expect(again.status, again.text).toBe(202)
  return (await whenIn(again.body.execution_id, 'waiting', 'succeeded')).status
}

test('an approval is kept if the active version would ask for the same', async () => {
  expect(await retryAfter({ payload: { amount: 10 } }, { payload: { amount: 10 } })).toBe('succeeded')
})

test.each<[what: string, first: Gate, second: Gate]>([
  ['payload', { payload: { amount: 10 } }, { payload: { amount: 10_000 } }],
  ['policy', { payload: 1 }, { payload: 1, quorum: 'all' }],
  [
    'node before it',
    { payload: { $ref: 'nodes.sum.output' }, amount: 10 },
    { payload: { $ref: 'nodes.sum.output' }, amount: 10_000 },
  ],
])('an approval is asked for again if the active version has another %s', async (_what, first, second) => {
  expect(await retryAfter(first, second)).toBe('waiting')
})

test('a question that nobody answered in time is asked again by a retry of its node', async () => {
  const args = { question: 'Which?', schema: { type: 'string' }, due_in_s: 0.3 }
  const retry = { max_attempts: 2, backoff_s: 0, on: ['question_expired'] }
  const definition = { nodes: [{ id: 'ask', type: 'clarification', args, retry }], edges: [] }
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  const run = await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
  expect((await whenIn(run.body.execution_id, 'failed')).error.code).toBe('question_expired')
  const asked = await service().sql<{ status: string }>('select status from questions where workflow_id = $1', [
    fromWire('wf', body.workflow_id),
  ])
  expect(asked.map(({ status }) => status)).toEqual(['expired', 'expired'])
})

test('an event that did not come in time is awaited again by a retry of its node', async () => {
  const retry = { max_attempts: 2, backoff_s: 0, on: ['event_overdue'] }
  const definition = {
    nodes: [{ id: 'wait', type: 'wait.event', args: { key: 'never', due_in_s: 0.3 }, retry }],
    edges: [],
  }
  const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Waits', definition } })
  const run = await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run`, { body: {} })
  await whenIn(run.body.execution_id, 'failed')
  const waits = await service().sql<{ status: string }>('select status from event_waits where execution_id = $1', [
    fromWire('exe', run.body.execution_id),
  ])
  expect(waits.map(({ status }) => status)).toEqual(['expired', 'expired'])
})
