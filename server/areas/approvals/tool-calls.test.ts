import { expect, test } from 'vitest'
import { fromWire, toWire } from '#platform/ids'
import { callTools, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { useServiceWithModel } from '#test/harness/model'
import { until } from '#test/harness/until'

// An agent whose tool needs approval: the execution waits, people vote on exactly this call, and only then the call is
// made.

const { model, service, world } = await useServiceWithModel('fake-model')

const approval = { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true }
const definitionWith = (tool: object) => ({
  nodes: [
    {
      id: 'agent',
      type: 'agent.run',
      args: {
        goal: 'Tell the team',
        tools: [{ type: 'notify', arguments: { fixed: { title: 'From the agent' } }, approval, ...tool }],
      },
    },
  ],
  edges: [],
  output: { $ref: 'nodes.agent.output.answer' },
})

const start = async (tool: object = {}) => {
  const { owner } = world()
  const definition = definitionWith(tool)
  const made = await owner.call('POST', '/api/workflows', { body: { name: 'Agent', definition } })
  expect(made.status, made.text).toBe(201)
  const run = await owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  return run.body.execution_id as string
}
const gates = async (
  execution: string,
): Promise<{ request_id: string; payload: unknown; payload_sha256: string }[]> => {
  const rows = await service().sql<{ request_id: string }>(
    `select request_id from approval_requests where execution_id = $1 and status = 'open'`,
    [fromWire('exe', execution)],
  )
  return Promise.all(
    rows.map(async ({ request_id }) => {
      const { body } = await world().owner.call('GET', `/api/approvals/${toWire('apr', request_id)}`)
      return body
    }),
  )
}
const gateOf = (execution: string) => until(async () => (await gates(execution))[0], 'the gate of the call')
const vote = async (gate: { request_id: string; payload_sha256: string }, decision: string, comment?: string) => {
  const body = { decision, payload_sha256: gate.payload_sha256, ...(comment && { comment }) }
  const voted = await world().owner.call('POST', `/api/approvals/${gate.request_id}/votes`, { body })
  expect(voted.status, voted.text).toBeLessThan(300)
}
const ended = (execution: string) =>
  until(async () => {
    const { body } = await world().owner.call('GET', `/api/workflows/executions/${execution}`)
    return ['succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'the end of the run')
const notices = async (): Promise<number> =>
  (await service().sql(`select from notifications where title = 'From the agent'`)).length
const toolText = (asked: Asked): string => asked.messages.findLast(({ role }) => role === 'tool')!.text

test('an approved call is made once, exactly as approved; a second call needs its own vote', async () => {
  const notify = (body: string) => callTools([{ name: 'notify', arguments: { body } }])
  model.script(notify('first'), notify('second'), (asked) => {
    expect(toolText(asked)).toContain('was not approved')
    expect(toolText(asked)).toContain('Too loud')
    return say('One was told.')
  })
  const execution = await start()
  const first = await gateOf(execution)
  expect(first.payload).toEqual({ tool: 'notify', arguments: { body: 'first', title: 'From the agent' }, call: '1.0' })
  expect(await notices()).toBe(0)
  // The execution waits for the gate itself, not for a time at which to check it again.
  const waiting = await until(async () => {
    const { body } = await world().owner.call('GET', `/api/workflows/executions/${execution}`)
    return body.status === 'waiting' ? body.waiting_for : undefined
  }, 'the run to wait')
  expect(waiting).toMatchObject([{ kind: 'approval', node_id: 'agent', request_id: first.request_id }])
  await vote(first, 'approve')
  const second = await until(
    async () => (await gates(execution)).find(({ request_id }) => request_id !== first.request_id),
    'the second gate',
  )
  expect(second.payload_sha256).not.toBe(first.payload_sha256)
  expect(await notices()).toBe(1)
  await vote(second, 'reject', 'Too loud')
  const end = await ended(execution)
  expect(end).toMatchObject({ status: 'succeeded', results: 'One was told.' })
  // Waiting for people uses no attempt.
  expect(end.nodes).toMatchObject([{ node_id: 'agent', attempt: 1 }])
  expect(await notices()).toBe(1)
  expect(model.refused).toEqual([])
})

test('a gate that is past its due time is decided by its policy', async () => {
  const notify = callTools([{ name: 'notify', arguments: { body: 'late' } }])
  model.script(notify, (asked) => say(toolText(asked).includes('was not approved') ? 'Nobody came.' : 'Told.'))
  const policy = { approvers: [{ kind: 'role', id: 'owner' }], allow_self: true, due_in_s: 1, on_due: 'reject' }
  const before = await notices()
  expect(await ended(await start({ approval: policy }))).toMatchObject({ results: 'Nobody came.' })
  expect(await notices()).toBe(before)
})
