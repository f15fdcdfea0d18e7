import { expect, test } from 'vitest'
import { callTools, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { useServiceWithModel } from '#test/harness/model'
import { until } from '#test/harness/until'

// Workflows as tools of `agent.run`: each call is a separate execution, for which the agent waits.

const { model, service, world } = await useServiceWithModel('fake-model')

const make = async (name: string, definition: object): Promise<string> => {
  const made = await world().owner.call('POST', '/api/workflows', { body: { name, definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
const inputs = {
  type: 'object',
  properties: { order: { type: 'integer' }, source: { type: 'string' }, priority: { type: 'string' } },
  required: ['order'],
  additionalProperties: false,
}
const lookUp = {
  inputs,
  nodes: [{ id: 'found', type: 'set', args: { values: { seen: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.found.output.seen' },
}
const agentWith = (tools: unknown, more: object = {}) => ({
  nodes: [{ id: 'agent', type: 'agent.run', args: { goal: 'Look it up', tools, ...more } }],
  edges: [],
  output: { $ref: 'nodes.agent.output.answer' },
})
const start = async (definition: object, input: object = {}): Promise<string> => {
  const workflow = await make('Agent', definition)
  const run = await world().owner.call('POST', `/api/workflows/${workflow}/run`, { body: { input } })
  expect(run.status, run.text).toBeLessThan(300)
  return run.body.execution_id
}
const read = async (execution: string) =>
  (await world().owner.call('GET', `/api/workflows/executions/${execution}`)).body
const ended = (execution: string) =>
  until(async () => {
    const body = await read(execution)
    return ['succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'the end of the run')
const toolText = (asked: Asked): string => asked.messages.findLast(({ role }) => role === 'tool')!.text
const runsOf = async (workflow: string) =>
  (await world().owner.call('GET', `/api/executions?workflow_id=${workflow}`)).body.items

test('a call runs the workflow once, with the author’s arguments and those that the model may choose', async () => {
  const workflow = await make('Look up an order', lookUp)
  const tool = {
    workflow_id: workflow,
    arguments: { fixed: { source: { $ref: 'input.from' } }, allowed: { priority: ['low', 'high'] } },
  }
  const wanted = { order: 7, priority: 'high' }
  model.script(
    (asked) => {
      expect(asked.tools).toEqual(['look_up_an_order'])
      return callTools([{ name: 'look_up_an_order', arguments: { ...wanted, priority: 'urgent' } }])
    },
    (asked) => {
      expect(toolText(asked)).toContain('nothing was done')
      return callTools([{ name: 'look_up_an_order', arguments: { ...wanted, source: 'mine' } }])
    },
    (asked) => {
      expect(toolText(asked)).toContain('nothing was done')
      return callTools([{ name: 'look_up_an_order', arguments: wanted }])
    },
    (asked) => say(toolText(asked)),
  )
  const execution = await start(agentWith([tool]), { from: 'agent' })
  const { results, nodes } = await ended(execution)
  expect(JSON.parse(results)).toEqual({ order: 7, priority: 'high', source: 'agent' })
  expect(nodes).toMatchObject([{ node_id: 'agent', attempt: 1 }])
  const runs = await runsOf(workflow)
  expect(runs).toHaveLength(1)
  expect(runs[0].trigger).toEqual({ kind: 'workflow', id: execution })
  expect(model.refused).toEqual([])
})

test('the agent waits for the workflow to end, and receives its failure', async () => {
  const asks = {
    nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which one?', schema: { type: 'string' } } }],
    edges: [],
    output: { $ref: 'nodes.ask.output' },
  }
  const fails = { nodes: [{ id: 'f', type: 'fail', args: { code: 'no_stock', message: 'none left' } }], edges: [] }
  const [asking, failing] = [await make('Ask somebody', asks), await make('Order more', fails)]
  model.script(
    callTools([{ name: 'ask_somebody', arguments: {} }]),
    (asked) => {
      expect(toolText(asked)).toBe('the red one')
      return callTools([{ name: 'order_more', arguments: {} }])
    },
    (asked) => {
      expect(toolText(asked)).toContain('no_stock')
      return say('There is none.')
    },
  )
  const execution = await start(agentWith([{ workflow_id: asking }, { workflow_id: failing }]))
  const child = await until(async () => {
    const { waiting_for } = await read(execution)
    return waiting_for?.find(({ kind }: { kind: string }) => kind === 'execution')?.execution_id
  }, 'the agent to wait for the workflow')
  await until(
    async () => (await read(child)).waiting_for.some(({ kind }: { kind: string }) => kind === 'clarification'),
    'the question',
  )
  const answered = await world().owner.call('POST', `/api/workflows/executions/${child}/respond`, {
    body: { response: 'the red one' },
  })
  expect(answered.status, answered.text).toBeLessThan(300)
  expect(await ended(execution)).toMatchObject({ status: 'succeeded', results: 'There is none.' })
})

test('only workflows that the author named are run, with inputs that they have', async () => {
  const workflow = await make('Look up a name', lookUp)
  const saved = (tools: unknown) =>
    world().owner.call('POST', '/api/workflows', { body: { name: 'Agent', definition: agentWith(tools) } })
  expect((await saved([{ workflow_id: 'wf_01h455vb4pex5vsknk084sn02q' }])).status).toBe(422)
  expect((await saved([{ workflow_id: { $ref: 'input.w' } }])).status).toBe(422)
  expect((await saved([{ type: 'approval' }])).body.errors).toMatchObject([
    { path: '/definition/nodes/0/args/tools/0/type' },
  ])
  // A computed list could name any workflow, so it is not run.
  model.script(callTools([{ name: 'look_up_a_name', arguments: { order: 1 } }]), (asked) => say(toolText(asked)))
  const computed = await start(agentWith({ $ref: 'input.tools' }), { tools: [{ workflow_id: workflow }] })
  expect((await ended(computed)).results).toContain('unknown_reference')
  const odd = await start(agentWith([{ workflow_id: workflow, arguments: { fixed: { nope: 1 } } }]))
  expect((await ended(odd)).error).toMatchObject({ code: 'tool_not_grantable' })
  expect(await runsOf(workflow)).toEqual([])
})

test('a person who may not run a workflow can neither name it as a tool nor continue to use it', async () => {
  const { owner, member } = world()
  const workflow = await make('Secret look-up', lookUp)
  const saved = () =>
    member.call('POST', '/api/workflows', {
      body: { name: 'Of a member', definition: agentWith([{ workflow_id: workflow }]) },
    })
  expect((await saved()).status).toBe(422)
  const share = async (members: object[]) => {
    const changed = await owner.call('PATCH', `/api/workflows/${workflow}`, { body: { members } })
    expect(changed.status, changed.text).toBe(200)
  }
  await share([{ user_id: member.id, role: 'member' }])
  const made = await saved()
  expect(made.status, made.text).toBe(201)
  await share([])
  const run = await member.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input: {} } })
  const end = await until(async () => {
    const { body } = await member.call('GET', `/api/workflows/executions/${run.body.execution_id}`)
    return body.status === 'failed' ? body : undefined
  }, 'the run to fail')
  expect(end.error).toMatchObject({ code: 'workflow_not_allowed' })
  expect(await runsOf(workflow)).toEqual([])
})

test('a call with approval is voted on unchanged, and made once', async () => {
  const workflow = await make('Refund', lookUp)
  const approval = { approvers: [{ kind: 'role', id: 'owner' }], allow_self: true }
  model.script(callTools([{ name: 'refund', arguments: { order: 3 } }]), (asked) => say(toolText(asked)))
  const execution = await start(agentWith([{ workflow_id: workflow, approval }]))
  const { request_id } = await until(
    async () => (await read(execution)).waiting_for.find(({ kind }: { kind: string }) => kind === 'approval'),
    'the gate',
  )
  expect(await runsOf(workflow)).toEqual([])
  const gate = (await world().owner.call('GET', `/api/approvals/${request_id}`)).body
  expect(gate.payload).toEqual({ tool: 'Refund', arguments: { order: 3 }, call: '1.0' })
  await world().owner.call('POST', `/api/approvals/${request_id}/votes`, {
    body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
  })
  expect(JSON.parse((await ended(execution)).results)).toEqual({ order: 3 })
  expect(await runsOf(workflow)).toHaveLength(1)
  expect(await service().sql(`select from approval_requests where status = 'open'`)).toEqual([])
})
