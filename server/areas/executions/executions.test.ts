import { beforeAll, describe, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const greet = {
  inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: '"Hello " + input.name' } } } }],
  edges: [],
  output: { $ref: 'nodes.greet.output.text' },
}

async function makeWorkflow(definition: unknown = greet, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body, text } = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Test', definition, ...more },
  })
  expect(status, text).toBe(201)
  return body.workflow_id
}

describe('running a workflow', () => {
  test('a run is accepted, ends, and shows its nodes and results', async () => {
    const id = await makeWorkflow()
    const accepted = await world.owner.call('POST', `/api/workflows/${id}/run`, { body: { input: { name: 'Ada' } } })
    expect(accepted.status, accepted.text).toBe(202)
    expect(accepted.body).toEqual({ execution_id: expect.stringMatching(/^exe_/), status: 'queued' })
    const done = await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=20`, {
      body: { input: { name: 'Bob' } },
    })
    expect(done.status, done.text).toBe(200)
    expect(done.body).toMatchObject({
      status: 'succeeded',
      results: 'Hello Bob',
      workflow_id: id,
      trigger: { kind: 'user', id: world.owner.id },
      waiting_for: [],
    })
    expect(done.body.nodes).toMatchObject([
      { node_id: 'greet', status: 'succeeded', attempt: 1, output: { text: 'Hello Bob' } },
    ])
    const list = await world.owner.call('GET', `/api/workflows/${id}/executions`)
    expect(list.body.items).toHaveLength(2)
    const one = await world.owner.call('GET', `/api/workflows/executions/${done.body.execution_id}`)
    expect(one.body).toEqual(done.body)
    const events = await world.owner.call('GET', `/api/workflows/executions/${done.body.execution_id}/events`)
    expect(events.body.items.map(({ type }: { type: string }) => type)).toEqual([
      'execution.started',
      'node.succeeded',
      'execution.succeeded',
    ])
  })
})
