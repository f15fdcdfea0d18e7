import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World

beforeEach(async () => {
  world = await makeWorld(service())
})

const put = (name: string, value: unknown, person: TestPerson = world.owner, more: object = {}): Promise<Answer> =>
  person.call('PUT', `/api/variables/${name}`, { body: { value, ...more } })

async function workflow(definition: object, name = 'W'): Promise<Answer['body']> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name, definition } })
  expect(made.status, made.text).toBe(201)
  return made.body
}
const execution = async (id: string): Promise<Answer['body']> =>
  (await world.owner.call('GET', `/api/workflows/executions/${id}`)).body
async function run(workflowId: string, waitS = 20): Promise<Answer['body']> {
  const ran = await world.owner.call('POST', `/api/workflows/${workflowId}/run?wait_s=${waitS}`, {
    body: { input: {} },
  })
  expect(ran.status, ran.text).toBeLessThan(300)
  return execution(ran.body.execution_id)
}
const ended = (id: string): Promise<Answer['body']> =>
  until(async () => {
    const found = await execution(id)
    return found.finished_at !== null && found
  }, 'the end of the run')

const set = (id: string, value: unknown) => ({ id, type: 'set', args: { values: { value } } })
const edge = (from: string, to: string) => ({ from: { node: from }, to })
const region = {
  nodes: [set('a', { $ref: 'vars.REGION' }), set('b', { $cel: "vars.REGION + '!'" })],
  edges: [edge('a', 'b')],
  output: [{ $ref: 'nodes.a.output.value' }, { $ref: 'nodes.b.output.value' }],
}

describe('a variable', () => {
  test('is added, listed by name, changed and deleted', async () => {
    expect((await put('B', { deep: [1] }, world.owner, { description: 'Second' })).body).toMatchObject({
      name: 'B',
      value: { deep: [1] },
      description: 'Second',
      created_by: world.owner.id,
    })
    await put('A', null)
    await put('A', 'changed')
    const { body } = await world.viewer.call('GET', '/api/variables')
    expect(body.items.map(({ name, value }: Answer['body']) => [name, value])).toEqual([
      ['A', 'changed'],
      ['B', { deep: [1] }],
    ])
    const first = (await world.viewer.call('GET', '/api/variables?limit=1')).body
    expect(first.items).toHaveLength(1)
    const rest = (await world.viewer.call('GET', `/api/variables?limit=1&cursor=${first.next_cursor}`)).body
    expect(rest.items[0].name).toBe('B')
    expect((await world.viewer.call('GET', '/api/variables?q=b')).body.items).toHaveLength(1)
    expect((await world.owner.call('DELETE', '/api/variables/A')).status).toBe(204)
    expect((await world.owner.call('DELETE', '/api/variables/A')).status).toBe(404)
  })

  test.each([
    ['1A', 1],
    ['a-b', 1],
    ['a'.repeat(65), 1],
    ['constructor', 1],
    ['BIG', 'x'.repeat(16 * 1024)],
    ['NUL', '\u0000'],
  ])('is refused with the name %s if the name or the value is not allowed', async (name, value) => {
    expect((await put(name, value)).status).toBe(422)
    expect((await world.owner.call('GET', '/api/variables')).body.items).toEqual([])
  })

  test('is refused without a value, with another field, and over the limits of the workspace', async () => {
    expect((await world.owner.call('PUT', '/api/variables/A', { body: {} })).status).toBe(422)
    expect((await put('A', 1, world.owner, { secret: true })).status).toBe(422)
    for (const name of ['A', 'B', 'C']) expect((await put(name, 'x'.repeat(16_000))).status).toBe(200)
    expect((await put('D', 'x'.repeat(16_300))).status).toBe(200)
    expect((await put('E', 'x'.repeat(1_300))).body.errors[0].message).toContain('together')
    // The replaced value does not count.
    expect((await put('D', 'x'.repeat(10))).status).toBe(200)
    await service().sql(
      `insert into variables (workspace_id, name, value) select $1, 'N' || n, '1' from generate_series(1, 195) n`,
      [world.workspace.uuid],
    )
    const answers = await Promise.all(['X', 'Y', 'Z'].map((name) => put(name, 1)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
  })

  test.each(['__proto__', 'constructor', 'prototype', 'a.b', 'a b', '1st', 'é', 'a'.repeat(65), 'a%00'])(
    'is refused with the name %j, and does not change object prototypes',
    async (name) => {
      const path = `/api/variables/${name === 'a%00' ? name : encodeURIComponent(name)}`
      const { status } = await world.owner.call('PUT', path, { body: { value: { polluted: true } } })
      expect([400, 404, 422]).toContain(status)
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    },
  )

  test('contains text that is never evaluated as an expression', async () => {
    const value = { $cel: '1 + 1', text: '{{1+1}}', inner: { $ref: 'input.secret' } }
    await world.owner.call('PUT', '/api/variables/LITERAL', { body: { value } })
    const definition = {
      nodes: [{ id: 'a', type: 'set', args: { values: { got: { $ref: 'vars.LITERAL' } } } }],
      edges: [],
      output: { $ref: 'nodes.a.output.got' },
    }
    const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'Literal', definition } })
    const run = await world.owner.call('POST', `/api/workflows/${body.workflow_id}/run?wait_s=60`, {
      body: { input: { secret: 'hush' } },
    })
    expect(run.body.results).toEqual(value)
  })

  test('can be changed by the person who added it and by owners, but not by other members', async () => {
    expect((await put('MINE', 1, world.member)).status).toBe(200)
    await put('THEIRS', 1, world.owner)
    expect((await put('THEIRS', 2, world.member)).status).toBe(403)
    expect((await world.member.call('DELETE', '/api/variables/THEIRS')).status).toBe(403)
    expect((await put('MINE', 2, world.member)).status).toBe(200)
    expect((await put('MINE', 3, world.owner)).body).toMatchObject({ value: 3, created_by: world.member.id })
    expect((await put('NEW', 3, world.viewer)).status).toBe(403)
    const log = (await world.owner.call('GET', `/api/audit-log`)).body
    expect(log.items.map(({ action, data }: Answer['body']) => `${action} ${data.name}`)).toContain(
      'variable.updated MINE',
    )
    expect(JSON.stringify(log)).not.toContain('"value"')
  })

  test('does not exist for another workspace', async () => {
    await put('SECRETLESS', 1)
    expect((await world.stranger.call('GET', '/api/variables/SECRETLESS')).status).toBe(404)
    expect((await world.stranger.call('GET', '/api/variables')).body.items).toEqual([])
  })

  test('is not overwritten if it has changed since it was read', async () => {
    const made = await put('A', 1)
    const etag = (await world.owner.call('GET', '/api/variables/A')).headers.get('etag')!
    expect(made.status).toBe(200)
    await put('A', 2)
    const late = await world.owner.call('PUT', '/api/variables/A', {
      body: { value: 3 },
      headers: { 'if-match': etag },
    })
    expect(late.status).toBe(412)
  })
})

describe('a workflow', () => {
  test('reads variables in $ref and CEL', async () => {
    await put('REGION', 'eu')
    const { workflow_id, warnings } = await workflow(region)
    expect(warnings).toBeUndefined()
    expect((await run(workflow_id)).results).toEqual(['eu', 'eu!'])
  })

  test('that names an unknown variable is saved with a warning', async () => {
    const made = await workflow({
      nodes: [set('a', [{ $ref: 'vars.NOWHERE.deep' }]), set('b', { $cel: 'vars["GONE"]' })],
      edges: [],
    })
    expect(made.warnings).toEqual([
      { path: '/definition/nodes/0/args/values/value/0', message: expect.stringContaining('"NOWHERE"') },
      { path: '/definition/nodes/1/args/values/value', message: expect.stringContaining('"GONE"') },
    ])
    const saved = await world.owner.call('POST', `/api/workflows/${made.workflow_id}/versions`, {
      body: { definition: region },
    })
    expect(saved.body.warnings).toHaveLength(2)
    const ran = await run(made.workflow_id)
    expect(ran.nodes.find(({ node_id }: Answer['body']) => node_id === 'a').output).toEqual({ value: [null] })
  })

  test.each([{ $ref: 'vars' }, { $cel: 'size(vars) > 0' }, { $cel: 'vars[input.name]' }])(
    'must name each variable: %j is refused',
    async (value) => {
      const made = await world.owner.call('POST', '/api/workflows', {
        body: { name: 'W', definition: { nodes: [set('a', value)], edges: [] } },
      })
      expect(made.status).toBe(422)
      expect(made.text).toContain('name a variable')
    },
  )
})

describe('an execution keeps the variable values with which it started', () => {
  const question = { id: 'ask', type: 'clarification', args: { question: 'Go on?' } }

  test('across a wait, in maps, in sub-workflows that start later, and in a retry', async () => {
    await put('REGION', 'eu')
    const child = await workflow({
      nodes: [set('c', { $ref: 'vars.REGION' })],
      edges: [],
      output: { $ref: 'nodes.c.output.value' },
    })
    const parent = await workflow({
      nodes: [
        question,
        set('after', { $ref: 'vars.REGION' }),
        {
          id: 'each',
          type: 'map',
          args: {
            items: [1],
            body: { nodes: [set('in', { $ref: 'vars.REGION' })], edges: [], output: { $ref: 'nodes.in.output.value' } },
          },
        },
        { id: 'call', type: 'subworkflow', args: { workflow_id: child.workflow_id, input: {} } },
        { id: 'stop', type: 'fail', args: { message: 'stop' } },
      ],
      edges: [edge('ask', 'after'), edge('after', 'each'), edge('each', 'call'), edge('call', 'stop')],
    })
    const { execution_id } = await run(parent.workflow_id, 0)
    await until(async () => (await execution(execution_id)).status === 'waiting', 'the question')
    await put('REGION', 'us')
    const answered = await world.owner.call('POST', `/api/workflows/executions/${execution_id}/respond`, {
      body: { response: 'yes' },
    })
    expect(answered.status, answered.text).toBeLessThan(300)
    const outputs = (view: Answer['body']) =>
      Object.fromEntries(view.nodes.map(({ node_id, output }: Answer['body']) => [node_id, output]))
    const first = outputs(await ended(execution_id))
    expect(first).toMatchObject({ after: { value: 'eu' }, call: 'eu' })
    expect(JSON.stringify(first.each)).toContain('eu')
    const retried = await world.owner.call('POST', `/api/workflows/executions/${execution_id}/retry`, {
      body: { from: 'after' },
    })
    expect(retried.status, retried.text).toBeLessThan(300)
    expect(outputs(await ended(retried.body.execution_id))).toMatchObject({ after: { value: 'eu' }, call: 'eu' })
    expect((await run(child.workflow_id)).results).toBe('us')
  })

  test.each([[[]], [['REGION']]])(
    'and its sub-workflow sees no variable that was added after the parent started (%j)',
    async (before) => {
      for (const { name } of (await world.owner.call('GET', '/api/variables')).body.items)
        await world.owner.call('DELETE', `/api/variables/${name}`)
      for (const name of before) await put(name, 'eu')
      const child = await workflow({
        nodes: [set('c', [{ $ref: 'vars.LATE' }, { $ref: 'vars.REGION' }])],
        edges: [],
        output: { $ref: 'nodes.c.output.value' },
      })
      const between = await workflow({
        nodes: [{ id: 'call', type: 'subworkflow', args: { workflow_id: child.workflow_id, input: {} } }],
        edges: [],
        output: { $ref: 'nodes.call.output' },
      })
      const parent = await workflow({
        nodes: [question, { id: 'call', type: 'subworkflow', args: { workflow_id: between.workflow_id, input: {} } }],
        edges: [edge('ask', 'call')],
        output: { $ref: 'nodes.call.output' },
      })
      const { execution_id } = await run(parent.workflow_id, 0)
      await until(async () => (await execution(execution_id)).status === 'waiting', 'the question')
      await put('LATE', 'too late')
      await world.owner.call('POST', `/api/workflows/executions/${execution_id}/respond`, { body: { response: 'yes' } })
      expect((await ended(execution_id)).results).toEqual([null, before.length > 0 ? 'eu' : null])
      expect((await run(between.workflow_id)).results[0]).toBe('too late')
      await world.owner.call('DELETE', '/api/variables/LATE')
    },
  )

  test('and records only the values that it reads in its journal', async () => {
    await put('REGION', 'eu')
    await put('OTHER', 'x')
    const started = async (definition: object) => {
      const { workflow_id } = await workflow(definition)
      const { execution_id } = await run(workflow_id)
      const [row] = await service().sql<{ data: Answer['body'] }>(
        `select e.data from journal e join executions x using (execution_id)
         where x.workspace_id = $1 and e.type = 'execution.started' order by e.at desc, e.execution_id desc limit 1`,
        [world.workspace.uuid],
      )
      expect(execution_id).toBeTruthy()
      return row!.data.vars
    }
    expect(await started(region)).toEqual({ REGION: 'eu' })
    expect(await started({ nodes: [set('a', 1)], edges: [] })).toBeUndefined()
  })
})
