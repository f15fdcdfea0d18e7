import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hang, say } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, makeWorld, type TestPerson, type World } from '#test/harness/world'

const OPERATOR = 'operator@example.com'
let llm: FakeLlm
let service: Service
let world: World

beforeAll(async () => {
  llm = await startFakeLlm()
  service = await startService({
    env: {
      HEDDLE_OPERATORS: OPERATOR,
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'house',
      LLM_API_KEY: llm.key,
      LLM_BASE_URL: llm.baseUrl,
    },
  })
  const operator = await makePerson(service, { email: OPERATOR })
  await makeWorkspace(service, operator)
  // A thousand input tokens cost one dollar; output tokens are free.
  const priced = await operator.call('PUT', '/api/operations/prices', {
    body: { prices: [{ model: 'house', input: 1000, output: 0 }] },
  })
  expect(priced.status, priced.text).toBe(200)
})
beforeEach(async () => {
  llm.reset()
  world = await makeWorld(service)
})
afterAll(async () => {
  await service?.stop()
  await llm?.close()
})

const put = (budgets: object[], person: TestPerson = world.owner): Promise<Answer> =>
  person.call('PUT', '/api/budgets', { body: { budgets } })
async function budgetsOf(person: TestPerson = world.owner): Promise<Answer['body']> {
  return (await person.call('GET', '/api/budgets')).body.budgets
}
async function made(person: TestPerson = world.owner): Promise<string> {
  const definition = { nodes: [{ id: 'n', type: 'llm.generate', args: { prompt: 'Hello' } }], edges: [] }
  const { body } = await person.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  return body.workflow_id
}
async function run(workflowId: string, person: TestPerson = world.owner): Promise<Answer['body']> {
  const { body } = await person.call('POST', `/api/workflows/${workflowId}/run?wait_s=60`, { body: { input: {} } })
  return body
}
const dollars = (n: number) => say('Hi', { input: n * 1000, output: 0 })
const told = async (person: TestPerson = world.owner): Promise<string[]> =>
  (await person.call('GET', '/api/notifications')).body.items
    .map(({ kind }: { kind: string }) => kind)
    .filter((kind: string) => kind.startsWith('budget.'))

describe('a soft budget', () => {
  test('notifies owners once at 80 % and once when it is spent, and stops no call', async () => {
    expect((await put([{ scope: 'workspace', limit: 10, per: 'month' }])).status).toBe(200)
    const id = await made(world.member)
    llm.script(dollars(7), dollars(1), dollars(1), dollars(5), dollars(1))
    await run(id, world.member)
    expect(await told()).toEqual([])
    await run(id, world.member)
    expect(await told()).toEqual(['budget.warning'])
    await run(id, world.member)
    expect(await told()).toEqual(['budget.warning'])
    await run(id, world.member)
    expect((await run(id, world.member)).status).toBe('succeeded')
    expect((await told()).sort()).toEqual(['budget.exceeded', 'budget.warning'])
    expect(await told(world.member)).toEqual([])
    expect(await budgetsOf()).toMatchObject([
      { scope: 'workspace', limit: 10, per: 'month', hard: false, spent: 15, state: 'exceeded', name: null },
    ])
  })

  test('notifies again when it is spent again after it was raised', async () => {
    await put([{ scope: 'workspace', limit: 1, per: 'day' }])
    const id = await made()
    llm.script(dollars(2), dollars(2))
    await run(id)
    await put([{ scope: 'workspace', limit: 3, per: 'day' }])
    await run(id)
    expect(await told()).toEqual(['budget.exceeded', 'budget.exceeded'])
  })

  test('sends an event', async () => {
    const made_ = await world.owner.call('POST', '/api/event-destinations', {
      body: { url: 'https://receiver.invalid/events', event_types: ['budget.*'] },
    })
    expect(made_.status, made_.text).toBe(201)
    await put([{ scope: 'workspace', limit: 1, per: 'month' }])
    llm.script(dollars(2))
    await run(await made())
    const path = `/api/event-destinations/${made_.body.destination_id}/deliveries`
    const [delivery] = await until(async () => {
      const { items } = (await world.owner.call('GET', path)).body
      return items?.length > 0 && items
    }, 'the delivery')
    expect(delivery.type).toBe('budget.exceeded')
  })
})

describe('a hard budget', () => {
  test('stops model calls with the code budget_exceeded once it is spent, until it is raised', async () => {
    await put([{ scope: 'workspace', limit: 2, per: 'month', hard: true }])
    const id = await made()
    llm.script(dollars(2))
    expect((await run(id)).status).toBe('succeeded')
    const stopped = await run(id)
    expect(stopped).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } })
    expect(stopped.error.message).toContain('$2.00 a month')
    expect(llm.asked).toHaveLength(1)
    await put([{ scope: 'workspace', limit: 5, per: 'month', hard: true }])
    llm.script(dollars(1))
    expect((await run(id)).status).toBe('succeeded')
  })

  test('refuses a call that could exceed it, before any money is spent', async () => {
    await put([{ scope: 'workspace', limit: 0.001, per: 'month', hard: true }])
    const ended = await run(await made())
    expect(ended.error).toMatchObject({ code: 'budget_exceeded' })
    expect(llm.asked).toHaveLength(0)
  })

  test('counts the possible cost of calls that are still running', async () => {
    // "Hello" is two tokens: 0.002 dollars.
    await put([{ scope: 'workspace', limit: 0.003, per: 'month', hard: true }])
    const id = await made()
    llm.script(hang())
    const first = await world.owner.call('POST', `/api/workflows/${id}/run`, { body: { input: {} } })
    await until(async () => llm.asked.length === 1, 'the first call')
    expect(await run(id)).toMatchObject({ error: { code: 'budget_exceeded' } })
    expect(llm.asked).toHaveLength(1)
    await world.owner.call('POST', `/api/workflows/executions/${first.body.execution_id}/cancel`)
    llm.reset()
    llm.script(say('Hi', { input: 0, output: 0 }))
    // The reserved amount is released when the call ends.
    await until(async () => (await run(id)).status === 'succeeded', 'a call that is allowed')
  })

  test('of a workflow, a person or a credential stops only calls of its scope', async () => {
    const [mine, theirs] = [await made(), await made(world.member)]
    await put([
      { scope: mine, limit: 1, per: 'month', hard: true },
      { scope: world.member.id, limit: 1, per: 'day', hard: true },
    ])
    llm.script(dollars(1), dollars(1))
    expect((await run(mine)).status).toBe('succeeded')
    expect((await run(theirs, world.member)).status).toBe('succeeded')
    expect((await run(mine)).error.code).toBe('budget_exceeded')
    expect((await run(theirs, world.member)).error.code).toBe('budget_exceeded')
    const third = await made()
    llm.script(dollars(1))
    expect((await run(third)).status).toBe('succeeded')
    expect(await budgetsOf()).toMatchObject([
      { scope: world.member.id, name: world.member.name, spent: 1, state: 'exceeded' },
      { scope: mine, name: 'Asks', spent: 1, state: 'exceeded' },
    ])
  })
})

describe('budgets', () => {
  test('are replaced as a whole and only by owners; other users see the budgets that apply to them', async () => {
    const theirs = await made(world.member)
    const mine = await made()
    await put([
      { scope: 'workspace', limit: 9, per: 'day' },
      { scope: world.owner.id, limit: 8, per: 'day' },
      { scope: world.member.id, limit: 7, per: 'day' },
      { scope: theirs, limit: 6, per: 'day' },
      { scope: mine, limit: 5, per: 'day' },
    ])
    const seen = async (person: TestPerson) =>
      (await budgetsOf(person)).map(({ limit }: { limit: number }) => limit).sort()
    expect(await seen(world.owner)).toEqual([5, 6, 7, 8, 9])
    expect(await seen(world.member)).toEqual([6, 7, 9])
    expect(await seen(world.stranger)).toEqual([])
    expect((await put([], world.member)).status).toBe(403)
    expect((await put([])).body.budgets).toEqual([])
  })

  test.each([
    ['an unknown scope', [{ scope: 'moon', limit: 1, per: 'day' }]],
    ['a workflow of another workspace', [{ scope: 'wf_01kf3v6h2he3wtpk1fw5c0wz9d', limit: 1, per: 'day' }]],
    ['a person outside the workspace', () => [{ scope: world.stranger.id, limit: 1, per: 'day' }]],
    ['a negative limit', [{ scope: 'workspace', limit: -1, per: 'day' }]],
    ['an unknown period', [{ scope: 'workspace', limit: 1, per: 'year' }]],
    [
      'the same scope twice',
      [
        { scope: 'workspace', limit: 1, per: 'day' },
        { scope: 'workspace', limit: 2, per: 'day' },
      ],
    ],
  ])('with %s are refused and change nothing', async (_what, budgets) => {
    await put([{ scope: 'workspace', limit: 4, per: 'month' }])
    expect((await put(typeof budgets === 'function' ? budgets() : budgets)).status).toBe(422)
    expect(await budgetsOf()).toHaveLength(1)
  })
})
