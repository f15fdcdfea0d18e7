import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
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
  test('accepts the execution, runs it to its end, and shows its nodes and results', async () => {
    const id = await makeWorkflow()
    const accepted = await world.owner.call('POST', `/api/workflows/${id}/run`, { body: { input: { name: 'Ada' } } })
    expect(accepted.status, accepted.text).toBe(202)
    expect(accepted.body).toEqual({ execution_id: expect.stringMatching(/^exe_/), status: 'queued' })
    const done = await world.owner.call('POST', `/api/workflows/${id}/run?wait_s=60`, {
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

const pausing = (for_s: number) => ({ nodes: [{ id: 'w', type: 'wait', args: { for_s } }], edges: [] })
const run = (id: string, query = '', headers: Record<string, string> = {}, input: unknown = {}) =>
  world.owner.call('POST', `/api/workflows/${id}/run${query}`, { body: { input }, headers })
const read = async (execution: string) => (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body
const reaches = (execution: string, ...statuses: string[]) =>
  until(async () => {
    const body = await read(execution)
    return statuses.includes(body.status) && body
  }, statuses.join(' or '))

describe('an execution', () => {
  test('that did not end within wait_s gives the same response to its idempotency key after its end', async () => {
    const slow = await makeWorkflow(pausing(2))
    const first = await run(slow, '?wait_s=0.5', { 'idempotency-key': slow })
    expect(first.status, first.text).toBe(202)
    await reaches(first.body.execution_id, 'succeeded')
    const again = await run(slow, '?wait_s=0.5', { 'idempotency-key': slow })
    expect([again.status, again.text]).toEqual([202, first.text])
    const quick = await makeWorkflow()
    const answers = []
    for (let n = 0; n < 2; n++)
      answers.push(await run(quick, '?wait_s=60', { 'idempotency-key': quick }, { name: 'Ada' }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]!.text).toBe(answers[0]!.text)
  })

  test('cannot be retried on the active version if its input does not fit that version', async () => {
    const id = await makeWorkflow({ nodes: [], edges: [] })
    const { body } = await run(id, '?wait_s=60')
    const made = await world.owner.call('POST', `/api/workflows/${id}/versions`, {
      body: { definition: greet, activate: true },
    })
    expect(made.status, made.text).toBe(201)
    const retry = (version: string) =>
      world.owner.call('POST', `/api/workflows/executions/${body.execution_id}/retry`, { body: { version } })
    const refused = await retry('active')
    expect([refused.status, refused.body.errors]).toEqual([422, [expect.objectContaining({ path: '/input/name' })]])
    expect((await retry('same')).status).toBe(202)
  })

  test('lists its events after any valid position, and refuses an invalid position', async () => {
    const { body } = await run(await makeWorkflow(), '?wait_s=60', {}, { name: 'Ada' })
    const events = (after: number) =>
      world.owner.call('GET', `/api/workflows/executions/${body.execution_id}/events?after=${after}`)
    expect((await events(2 ** 31 - 1)).body.items).toEqual([])
    const beyond = await events(2 ** 31)
    expect([beyond.status, beyond.body.errors?.[0].path]).toEqual([422, '/after'])
  })

  test('checks computed arguments of wait and fail nodes like those of any other node', async () => {
    const id = await makeWorkflow({
      nodes: [
        { id: 'w', type: 'wait', args: { for_s: { $ref: 'input.for_s' } } },
        { id: 'f', type: 'fail', args: { code: { $ref: 'input.code' }, message: 'no' } },
      ],
      edges: [{ from: { node: 'w' }, to: 'f' }],
    })
    const outcome = async (input: unknown) => (await run(id, '?wait_s=60', {}, input)).body.error
    const wrong = (node_id: string) => expect.objectContaining({ code: 'args_invalid', node_id })
    expect(await outcome({ for_s: 1e12, code: 'mine' })).toEqual(wrong('w'))
    expect(await outcome({ for_s: '5', code: 'mine' })).toEqual(wrong('w'))
    expect(await outcome({ for_s: 0, code: 'X Y!' })).toEqual(wrong('f'))
    expect(await outcome({ for_s: 0, code: 'mine' })).toMatchObject({ code: 'mine', message: 'no' })
    expect(await outcome({ for_s: 0, code: null })).toMatchObject({ code: 'failed', message: 'no' })
  })

  test('that waits for another execution names it', async () => {
    const child = await makeWorkflow(pausing(3600))
    const sub = { id: 'sub', type: 'subworkflow', args: { workflow_id: child } }
    for (const definition of [
      { nodes: [sub], edges: [] },
      { nodes: [{ id: 'each', type: 'map', args: { items: [1], body: { nodes: [sub], edges: [] } } }], edges: [] },
    ]) {
      const { body } = await run(await makeWorkflow(definition))
      const { waiting_for } = await reaches(body.execution_id, 'waiting')
      expect(waiting_for).toMatchObject([{ kind: 'execution', execution_id: expect.stringMatching(/^exe_/) }])
      const waitedFor = await until(async () => {
        const found = await read(waiting_for[0].execution_id)
        return found.execution_id !== undefined && found
      }, 'the other execution')
      expect(waitedFor).toMatchObject({ workflow_id: child, parent_execution_id: body.execution_id })
      const events = await world.owner.call('GET', `/api/workflows/executions/${body.execution_id}/events`)
      expect(events.body.items.at(-1)).toMatchObject({ type: 'execution.waiting', data: { waiting_for } })
    }
  })

  test('shows unstarted nodes as pending while it can reach them, and as skipped after it ends', async () => {
    const steps = {
      nodes: [pausing(3600).nodes[0], { id: 'after', type: 'set', args: { values: {} } }],
      edges: [{ from: { node: 'w' }, to: 'after' }],
    }
    const { execution_id } = (await run(await makeWorkflow(steps))).body
    const after = { node_id: 'after', attempt: 0, started_at: null }
    const { nodes } = await reaches(execution_id, 'waiting')
    expect(nodes).toEqual([
      expect.objectContaining({ node_id: 'w', status: 'waiting', attempt: 1 }),
      { ...after, status: 'pending', finished_at: null },
    ])
    await world.owner.call('POST', `/api/workflows/executions/${execution_id}/cancel`)
    const ended = await reaches(execution_id, 'cancelled')
    expect(ended.nodes[1]).toEqual({ ...after, status: 'skipped', finished_at: ended.finished_at })
  })

  test('that waits shows its status at that moment in the response to a cancellation', async () => {
    const { body } = await run(await makeWorkflow(pausing(3600)))
    await reaches(body.execution_id, 'waiting')
    const cancelled = await world.owner.call('POST', `/api/workflows/executions/${body.execution_id}/cancel`)
    expect([cancelled.status, cancelled.body]).toEqual([202, { execution_id: body.execution_id, status: 'queued' }])
    await reaches(body.execution_id, 'cancelled')
  })

  test('of a deleted workflow is found neither by id nor by search, except by the person who started it', async () => {
    const id = await makeWorkflow(greet, { members: [{ user_id: world.member.id, role: 'member' }] })
    const ran = await world.member.call('POST', `/api/workflows/${id}/run?wait_s=60`, {
      body: { input: { name: 'Ada' } },
    })
    const found = async (as: TestPerson) =>
      (await as.call('GET', `/api/executions?workflow_id=${id}`)).body.items.map(
        ({ execution_id }: { execution_id: string }) => execution_id,
      )
    const viewer = { user_id: world.viewer.id, role: 'viewer' }
    await world.owner.call('PATCH', `/api/workflows/${id}`, { body: { members: [viewer] } })
    for (const one of [world.owner, world.viewer]) expect(await found(one)).toEqual([ran.body.execution_id])
    expect((await world.owner.call('DELETE', `/api/workflows/${id}`)).status).toBe(204)
    for (const one of [world.owner, world.viewer]) {
      expect((await one.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).status).toBe(404)
      expect(await found(one)).toEqual([])
    }
    expect(await found(world.member)).toEqual([ran.body.execution_id])
  })
})
