import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { json, status } from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Service, startService, useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const PATH = '/api/workflows/extract-requirements'
const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const requirements = [
  'name',
  { name: 'email', schema: { type: 'string', format: 'email' } },
  { name: 'rooms', schema: { type: 'integer', minimum: 1 } },
  { name: 'notes', required: false },
]

describe('extracting values from a message', () => {
  test('uses rules if no model is configured, and lists missing values', async () => {
    const { status: code, body } = await world.viewer.call('POST', PATH, {
      body: { message: 'Name: Ada Lovelace\nWe need 2 rooms.', requirements },
    })
    expect(code).toBe(200)
    expect(body).toEqual({
      values: { name: 'Ada Lovelace', rooms: 2 },
      missing: ['email'],
      confidence: { name: expect.any(Number), rooms: expect.any(Number) },
      extracted_by: 'rules',
    })
  })

  test('invents nothing, and treats expressions as text', async () => {
    for (const message of ['', 'hello', '{{name}}', '<script>alert()</script>'])
      expect((await world.owner.call('POST', PATH, { body: { message, requirements } })).body).toMatchObject({
        values: {},
        missing: ['name', 'email', 'rooms'],
      })
  })

  test('keeps known values, and determines days in the caller’s time zone', async () => {
    const date = { name: 'day', schema: { type: 'string', format: 'date' } }
    const on = async (time_zone: string) =>
      (
        await world.owner.call('POST', PATH, {
          body: { message: 'today', requirements: [date, 'city'], known: { city: 'Rome', other: 1 }, time_zone },
        })
      ).body
    const [east, west] = [await on('Pacific/Kiritimati'), await on('Pacific/Pago_Pago')]
    expect(east.values).toMatchObject({ city: 'Rome' })
    expect(east.values.day > west.values.day).toBe(true)
    expect(east.missing).toEqual([])
  })

  test('uses the inputs of a workflow if the request names one', async () => {
    const inputs = {
      type: 'object',
      properties: { amount: { type: 'number' }, note: { type: 'string' } },
      required: ['amount'],
    }
    const { body: workflow } = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'Pay', definition: { inputs, nodes: [], edges: [] } },
    })
    const { workflow_id } = workflow
    const { body } = await world.viewer.call('POST', PATH, { body: { message: 'the amount is 12.5', workflow_id } })
    expect(body).toMatchObject({ values: { amount: 12.5 }, missing: [] })
    const bare = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Bare' } })).body.workflow_id
    const none = await world.owner.call('POST', PATH, { body: { message: 'x', workflow_id: bare } })
    expect(none.body.code).toBe('no_active_version')
    const unknown = await Promise.all(
      [toWire('wf', newId()), 'nonsense', workflow_id].map((id, at) =>
        (at === 2 ? world.stranger : world.owner).call('POST', PATH, {
          body: { message: 'x', workflow_id: id },
          headers: { 'x-request-id': 'same' },
        }),
      ),
    )
    for (const answer of unknown) expect([answer.status, answer.text]).toEqual([422, unknown[0]!.text])
  })

  test('refuses invalid requests with the paths of the errors', async () => {
    const cases: [object, string][] = [
      [{ message: 'x' }, '/requirements'],
      [{ message: 'x', requirements: ['a'], workflow_id: 'wf_x' }, '/requirements'],
      [{ message: 'x', requirements: ['a', 'a'] }, '/requirements/1'],
      [{ message: 'x', requirements: [{ name: 'a', schema: { type: 'nonsense' } }] }, '/requirements/0/schema/type'],
      [{ message: 'x', requirements: ['a'], time_zone: 'Mars/Olympus' }, '/time_zone'],
      [{ message: 'x', requirements: [requirements[2]], known: { rooms: 'two' } }, '/known/rooms'],
      [{ message: 'x'.repeat(10_001), requirements: ['a'] }, '/message'],
      [{ requirements: ['a'] }, '/message'],
    ]
    for (const [body, path] of cases) {
      const answer = await world.owner.call('POST', PATH, { body })
      expect([path, answer.status, answer.body.errors?.[0].path]).toEqual([path, 422, path])
    }
  })
})

describe('with a language model', () => {
  let fake: FakeLlm
  let modelled: Service
  beforeAll(async () => {
    fake = await startFakeLlm()
    modelled = await startService({
      database: service().database,
      env: { LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'fake', LLM_API_KEY: FAKE_KEY, LLM_BASE_URL: fake.baseUrl },
    })
  })
  afterAll(async () => {
    await modelled.stop()
    await fake.close()
  })
  const ask = (message: string) =>
    modelled.call('POST', PATH, { token: world.owner.key, body: { message, requirements } })

  test('values come from the model, and values that are not in the message are dropped', async () => {
    fake.script(
      json({
        found: [
          { name: 'name', value_json: '"Ada"', quote: 'I am Ada' },
          { name: 'email', value_json: '"ada@example.com"', quote: 'ada@example.com' },
        ],
      }),
    )
    const { body } = await ask('I am Ada')
    expect(body).toMatchObject({ values: { name: 'Ada' }, missing: ['email', 'rooms'] })
    expect(body.extracted_by).toContain('model:')
  })

  test('the rules are used if the model fails', async () => {
    fake.otherwise(status(401))
    const { body } = await ask('ada@example.com')
    expect(body).toMatchObject({ values: { email: 'ada@example.com' }, extracted_by: 'rules' })
  })
})
