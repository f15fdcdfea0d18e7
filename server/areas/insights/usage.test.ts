import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callTools, json, say } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'

const OPERATOR = 'operator@example.com'
let llm: FakeLlm
let service: Service
let world: World
let operator: TestPerson

beforeAll(async () => {
  llm = await startFakeLlm()
  service = await startService({
    env: {
      HEDDLE_OPERATORS: OPERATOR,
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'house',
      LLM_MODELS: '*',
      LLM_API_KEY: llm.key,
      LLM_BASE_URL: llm.baseUrl,
      HEDDLE_ALLOW_TARGETS: new URL(llm.baseUrl).host,
    },
  })
  operator = await makePerson(service, { email: OPERATOR })
  await makeWorkspace(service, operator)
})
beforeEach(async () => {
  llm.reset()
  world = await makeWorld(service)
  await setPrices([])
})
afterAll(async () => {
  await service?.stop()
  await llm?.close()
})

const setPrices = async (prices: object[]): Promise<Answer> =>
  operator.call('PUT', '/api/operations/prices', { body: { prices } })

async function run(node: object, person: TestPerson = world.owner): Promise<Answer['body']> {
  const definition = { nodes: [{ id: 'n', ...node }], edges: [] }
  const made = await person.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  expect(made.status, made.text).toBe(201)
  const ran = await person.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, {
    body: { input: {} },
  })
  return (await person.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).body
}
const generate = (more: object = {}) => ({ type: 'llm.generate', args: { prompt: 'Hello', ...more } })
const usage = async (query: string, person: TestPerson = world.owner): Promise<Answer['body']> => {
  const { status, body, text } = await person.call('GET', `/api/insights/usage?${query}`)
  expect(status, text).toBe(200)
  return body
}
const NONE = { calls: 0, unpriced_calls: 0, input_tokens: 0, output_tokens: 0, cost: 0 }

describe('the usage of an execution', () => {
  test('is empty without a model call', async () => {
    const ended = await run({ type: 'set', args: { values: {} } })
    expect(ended.usage).toEqual(NONE)
    expect(ended.nodes[0]).not.toHaveProperty('usage')
  })

  test('includes the tokens and the call of a model without a price', async () => {
    llm.script(say('Hi', { input: 100, output: 50 }))
    const ended = await run(generate())
    const counted = { calls: 1, unpriced_calls: 1, input_tokens: 100, output_tokens: 50, cost: null }
    expect(ended.usage).toEqual(counted)
    expect(ended.nodes[0].usage).toEqual(counted)
    expect(ended.nodes[0].output.usage).not.toHaveProperty('cost')
  })

  test('has the cost by the provider, else by the operator’s price, else by the shipped price', async () => {
    const model = 'openai/gpt-4o'
    llm.script(say('Hi', { input: 100_000, output: 10_000 }))
    const shipped = await run(generate({ model }))
    expect(shipped.usage).toMatchObject({ cost: 0.35, unpriced_calls: 0 })
    expect(shipped.nodes[0].output.usage.cost).toBe(0.35)

    expect((await setPrices([{ model, input: 100, output: 100 }])).status).toBe(200)
    llm.script(say('Hi', { input: 10_000, output: 1_000 }))
    expect((await run(generate({ model }))).usage.cost).toBe(1.1)

    llm.script(say('Hi', { input: 10_000, output: 1_000, cost: 0.25 }))
    expect((await run(generate({ model }))).usage.cost).toBe(0.25)
  })

  test('includes all calls of an agent and of a map, counted for the node', async () => {
    await setPrices([{ model: 'house', input: 1000, output: 0 }])
    const each = { id: 'each', type: 'map', args: { items: [1, 2, 3], body: { nodes: [{ id: 'm', ...generate() }] } } }
    llm.script(...[1, 2, 3].map(() => say('Hi', { input: 1_000, output: 1 })))
    const mapped = await run(each)
    expect(mapped.status, JSON.stringify(mapped.error)).toBe('succeeded')
    expect(mapped.nodes[0]).toMatchObject({ node_id: 'each', usage: { calls: 3, cost: 3 } })

    llm.script(say('Done', { input: 500, output: 1 }))
    const agent = await run({ type: 'agent.run', args: { goal: 'Do it' } })
    expect(agent.nodes[0].usage).toMatchObject({ calls: 1, cost: 0.5 })
  })

  test('includes the cost of an unusable response', async () => {
    await setPrices([{ model: 'house', input: 1000, output: 0 }])
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    llm.script(json({ n: 'x' }, { input: 1_000, output: 1 }), json({ n: 'y' }, { input: 1_000, output: 1 }))
    const ended = await run({ type: 'llm.extract', args: { text: 'One', schema } })
    expect(ended.status).toBe('failed')
    expect(ended.usage).toMatchObject({ calls: 1, input_tokens: 2_000, cost: 2 })
  })

  test('ignores a negative cost of a provider', async () => {
    await setPrices([{ model: 'house', input: 1000, output: 0 }])
    llm.script(say('Hi', { input: 1_000, output: 0, cost: -5 }))
    expect((await run(generate())).usage.cost).toBe(1)
    llm.script(say('Hi', { input: -7, output: 10, cost: 1e300 }))
    expect((await run(generate())).usage).toMatchObject({ input_tokens: 0, output_tokens: 10, cost: 0 })
  })
})

test('max_cost stops an agent whose model has a price', async () => {
  await setPrices([{ model: 'house', input: 1000, output: 0 }])
  const call = callTools([{ name: 'notify', arguments: { title: 'Hi' } }], { input: 2_000, output: 1 })
  llm.script(call, say('never'))
  const ended = await run({ type: 'agent.run', args: { goal: 'Do it', tools: ['notify'], max_cost: 1.5 } })
  expect(ended.nodes[0].error, JSON.stringify(ended.nodes)).toMatchObject({ code: 'cost_budget_exceeded' })
  expect(llm.asked).toHaveLength(1)
})

describe('the report', () => {
  test('groups by workflow, model, person, day and credential, with a total', async () => {
    await setPrices([
      { model: 'house', input: 1000, output: 0 },
      { model: 'theirs', input: 2000, output: 0 },
    ])
    const credential = await world.owner.call('POST', '/api/credentials', {
      body: {
        name: 'Their model',
        kind: 'llm',
        config: { provider: 'openai-compatible', base_url: llm.baseUrl, default_model: 'theirs' },
        secrets: { api_key: llm.key },
      },
    })
    const { credential_id } = credential.body
    llm.script(say('a', { input: 1_000, output: 1 }), say('b', { input: 1_000, output: 1 }))
    const first = await run(generate())
    const second = await run(generate({ credential_id }))
    const today = new Date().toISOString().slice(0, 10)

    expect((await usage('group_by=workflow')).items).toMatchObject([
      { workflow_id: second.workflow_id, name: 'Asks', calls: 1, cost: 2 },
      { workflow_id: first.workflow_id, name: 'Asks', calls: 1, cost: 1 },
    ])
    expect((await usage('group_by=model')).items).toMatchObject([
      { model: 'openai-compatible/theirs', cost: 2 },
      { model: 'openai-compatible/house', cost: 1 },
    ])
    expect((await usage('group_by=person')).items).toMatchObject([
      { user_id: world.owner.id, name: world.owner.name, calls: 2 },
    ])
    expect((await usage('group_by=credential')).items).toMatchObject([
      { credential_id, name: 'Their model', cost: 2 },
      { credential_id: null, name: null, cost: 1 },
    ])
    // A person who sees the workflow does not see the credential that its owner uses.
    const members = [{ user_id: world.member.id, role: 'viewer' }]
    await world.owner.call('PATCH', `/api/workflows/${second.workflow_id}`, { body: { members } })
    expect((await usage('group_by=credential', world.member)).items).toMatchObject([
      { credential_id, name: null, cost: 2 },
    ])
    const days = await usage('group_by=day')
    expect(days).toMatchObject({ to: today, currency: 'USD', items: [{ day: today, calls: 2, cost: 3 }] })
    expect(days.total).toEqual({ calls: 2, unpriced_calls: 0, input_tokens: 2_000, output_tokens: 2, cost: 3 })
    expect((await usage(`group_by=model&workflow_id=${first.workflow_id}`)).total.cost).toBe(1)
  })

  test('shows members their own usage and that of their workflows, and nothing else', async () => {
    llm.script(say('a'), say('b'))
    const mine = await run(generate())
    const theirs = await run(generate(), world.member)
    const seen = async (person: TestPerson) =>
      (await usage('group_by=workflow', person)).items.map((item: { workflow_id: string }) => item.workflow_id).sort()
    expect(await seen(world.owner)).toEqual([mine.workflow_id, theirs.workflow_id].sort())
    expect(await seen(world.member)).toEqual([theirs.workflow_id])
    expect(await seen(world.stranger)).toEqual([])
  })

  test('omits other days, and refuses a range that is negative or too long', async () => {
    llm.script(say('a'))
    await run(generate())
    expect((await usage('from=2020-01-01T00:00:00Z&to=2020-01-31T00:00:00Z')).total).toEqual(NONE)
    for (const query of [
      'from=2020-02-01T00:00:00Z&to=2020-01-31T00:00:00Z',
      'from=2020-02-01T00:00:00Z&to=2026-01-31T00:00:00Z',
      'group_by=colour',
      'from=yesterday',
    ])
      expect((await world.owner.call('GET', `/api/insights/usage?${query}`)).status, query).toBe(422)
  })

  test('is kept longer than the calls, which are deleted with the executions; both are deleted in the end', async () => {
    llm.script(say('a', { input: 3, output: 4 }))
    const ended = await run(generate())
    await service.sql(`update model_calls set at = now() - interval '40 days'`)
    await service.sql('select forget_usage(30, 800, 1000)')
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${ended.execution_id}`)
    expect(body.usage).toEqual(NONE)
    expect((await usage('')).total.calls).toBe(1)
    await service.sql(`update usage_days set day = day - 900`)
    await service.sql('select forget_usage(30, 800, 1000)')
    expect(await service.sql('select from usage_days')).toHaveLength(0)
  })
})

describe('prices', () => {
  test('are shown with the date of the shipped ones, and replaced as a whole', async () => {
    await setPrices([
      { model: 'a', input: 1, output: 2 },
      { model: 'b', input: 3, output: 4.5 },
    ])
    const { body } = await setPrices([{ model: 'b', input: 3, output: 5 }])
    expect(body.prices).toEqual([{ model: 'b', input: 3, output: 5 }])
    const read = await operator.call('GET', '/api/operations/prices')
    expect(read.body).toEqual(body)
    expect(read.body.shipped_as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(read.body.shipped.length).toBeGreaterThan(10)
  })

  test.each([
    [[{ model: 'a', input: -1, output: 1 }]],
    [[{ model: 'a b', input: 1, output: 1 }]],
    [[{ model: '', input: 1, output: 1 }]],
    [[{ model: 'a', input: 1 }]],
    [
      [
        { model: 'a', input: 1, output: 1 },
        { model: 'a', input: 2, output: 1 },
      ],
    ],
  ])('are refused without any change if they are invalid: %j', async (prices) => {
    await setPrices([{ model: 'kept', input: 1, output: 1 }])
    expect((await setPrices(prices)).status).toBe(422)
    expect((await operator.call('GET', '/api/operations/prices')).body.prices).toHaveLength(1)
  })
})
