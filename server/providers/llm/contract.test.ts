import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  breakAfter,
  callTools,
  cut,
  cutOff,
  endAfter,
  filtered,
  hang,
  json,
  piecemeal,
  raw,
  redirect,
  refuse,
  say,
  status,
} from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { makeLanguageModel } from './configured.ts'
import type { LanguageModel, Prompt, TextPiece } from './index.ts'
import { ModelProblem } from './problem.ts'
import { makeSdkModel } from './sdk.ts'
import type { VendorSettings } from './vendors.ts'

let fake: FakeLlm
beforeAll(async () => {
  fake = await startFakeLlm()
})
afterEach(() => {
  expect(fake.refused).toEqual([])
  fake.reset()
})
afterAll(() => fake.close())

const hello: Prompt = { messages: [{ role: 'user', text: 'Hello' }], maxTokens: 100 }
const weather = {
  name: 'weather',
  description: 'The weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
}

const problemOf = async (promise: Promise<unknown>): Promise<ModelProblem> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ModelProblem)
  return error as ModelProblem
}

const ways: [string, Pick<VendorSettings, 'provider' | 'protocol'>][] = [
  ['openai-compatible', { provider: 'openai-compatible' }],
  ['openai, chat completions', { provider: 'openai', protocol: 'chat' }],
  ['openai, responses', { provider: 'openai', protocol: 'responses' }],
]

describe.each(ways)('a language model over %s', (_name, way) => {
  let model: LanguageModel
  const make = (more: Partial<VendorSettings> = {}, limits = {}) =>
    makeSdkModel(
      { ...way, model: 'fake-model', apiKey: FAKE_KEY, baseUrl: fake.baseUrl, ...more },
      { backoffMs: 1, ...limits },
    )
  beforeAll(() => {
    model = make()
  })

  test('returns a text and its usage', async () => {
    fake.script(say('Hello back', { input: 12, output: 3 }))
    const answer = await model.generate({ ...hello, system: 'Be kind', temperature: 0.5 })
    expect(answer).toEqual({ text: 'Hello back', finish: 'stop', usage: { input_tokens: 12, output_tokens: 3 } })
    expect(fake.asked[0]).toMatchObject({ model: 'fake-model', system: 'Be kind', maxTokens: 100, temperature: 0.5 })
    expect(fake.asked[0]?.messages).toEqual([{ role: 'user', text: 'Hello' }])
  })

  test('shows a text while it is written, and returns the same text', async () => {
    const pieces: TextPiece[] = []
    const first = Promise.withResolvers<void>()
    // The second piece is sent only after the first was shown, so the test fails if the text waits for the whole
    // response.
    fake.script(piecemeal(['Hello ', 'back'], (index) => (index === 1 ? first.promise : Promise.resolve())))
    const answer = await model.generate({
      ...hello,
      onText: (piece) => {
        pieces.push(piece)
        first.resolve()
      },
    })
    expect(answer).toEqual({ text: 'Hello back', finish: 'stop', usage: { input_tokens: 20, output_tokens: 10 } })
    expect(pieces).toEqual([
      { from: 0, text: 'Hello ' },
      { from: 6, text: 'back' },
    ])
  })

  test('returns tool calls, a truncated response and refusals of a stream like those of a whole response', async () => {
    const onText = (): void => {}
    fake.script(callTools([{ id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }]))
    const turn = await model.turn({ ...hello, tools: [weather], onText })
    expect(turn).toMatchObject({
      finish: 'tools',
      tool_calls: [{ id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }],
    })
    fake.script(cutOff('Hel'))
    expect(await model.generate({ ...hello, onText })).toMatchObject({ text: 'Hel', finish: 'length' })
    fake.script(filtered())
    expect((await problemOf(model.generate({ ...hello, onText }))).code).toBe('model_refused')
    fake.script(status(401))
    expect((await problemOf(model.generate({ ...hello, onText }))).code).toBe('provider_refused')
  })

  test.each([
    ['breaks', breakAfter],
    ['ends without its last events', endAfter],
  ])('starts the text again after a stream %s', async (_how, incomplete) => {
    const pieces: TextPiece[] = []
    fake.script(incomplete('Hal', 'f'), piecemeal(['Whole']))
    const answer = await model.generate({ ...hello, onText: (piece) => void pieces.push(piece) })
    expect(answer.text).toBe('Whole')
    expect(pieces.at(-1)).toEqual({ from: 0, text: 'Whole' })
  })

  test('uses another model of the provider if the prompt names one', async () => {
    await model.generate({ ...hello, model: 'vendor/other-model' })
    expect(fake.asked[0]?.model).toBe('vendor/other-model')
  })

  test.each(['../../files', 'a/../b', 'a?b', 'a b', '', `a${'b'.repeat(200)}`, 'a%2f..'])(
    'refuses %j as the name of a model without sending a request',
    async (name) => {
      expect((await problemOf(model.generate({ ...hello, model: name }))).code).toBe('model_name_invalid')
      expect(fake.count()).toBe(0)
    },
  )

  test('returns an object that matches the schema', async () => {
    fake.script(json({ name: 'Ada', age: 36 }))
    const { value } = await model.generateObject({ ...hello, schema: person, schemaName: 'person' })
    expect(value).toEqual({ name: 'Ada', age: 36 })
    expect(fake.asked[0]?.schema).toMatchObject({ required: ['name'] })
  })

  test('reads an object inside a code fence', async () => {
    fake.script(say('```json\n{"name": "Ada"}\n```'))
    expect((await model.generateObject({ ...hello, schema: person })).value).toEqual({ name: 'Ada' })
  })

  test('sends an object that does not match back once, with the errors, and adds up the usage', async () => {
    fake.script(json({ name: 'Ada', age: -1 }, { input: 5, output: 5 }), json({ name: 'Ada' }, { input: 9, output: 1 }))
    const { value, usage } = await model.generateObject({ ...hello, schema: person })
    expect(value).toEqual({ name: 'Ada' })
    expect(usage).toEqual({ input_tokens: 14, output_tokens: 6 })
    expect(fake.asked[1]?.messages.at(-1)?.text).toContain('/age must be at least 0')
  })

  test.each([
    ['text instead of JSON', say('I would rather talk')],
    ['JSON of another form', json(['Ada'])],
    ['a truncated object', say('{"name": "Ad')],
  ])('does not accept %s', async (_what, answer) => {
    fake.otherwise(answer)
    expect((await problemOf(model.generateObject({ ...hello, schema: person }))).code).toBe('model_output_invalid')
    expect(fake.count()).toBe(2)
  })

  test('reports that the object was truncated', async () => {
    fake.script(cutOff('{"name": "Ad'))
    const problem = await problemOf(model.generateObject({ ...hello, schema: person }))
    expect(problem).toMatchObject({ code: 'model_output_invalid', message: 'the answer was cut off at 100 tokens' })
  })

  test('returns tool calls and accepts their results in the next turn', async () => {
    fake.script(
      callTools([
        { id: 'call_a', name: 'weather', arguments: { city: 'Oslo' } },
        { id: 'call_b', name: 'weather', arguments: { city: 'Rome' } },
      ]),
      say('Cold and warm'),
    )
    const first = await model.turn({ ...hello, tools: [weather] })
    expect(first).toMatchObject({
      finish: 'tools',
      tool_calls: [
        { id: 'call_a', name: 'weather', arguments: { city: 'Oslo' } },
        { id: 'call_b', name: 'weather', arguments: { city: 'Rome' } },
      ],
    })
    expect(JSON.parse(JSON.stringify(first))).toEqual(first)
    const second = await model.turn({
      ...hello,
      tools: [weather],
      toolChoice: 'none',
      messages: [
        ...hello.messages,
        { role: 'assistant', text: first.text, tool_calls: first.tool_calls },
        { role: 'tool', call_id: 'call_a', name: 'weather', text: '-3' },
        { role: 'tool', call_id: 'call_b', name: 'weather', text: 'no such city', failed: true },
      ],
    })
    expect(second).toMatchObject({ text: 'Cold and warm', finish: 'stop', tool_calls: [] })
    const results = fake.asked[1]?.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
    expect(results).toEqual(['-3', expect.stringContaining('no such city')])
    expect(fake.asked[1]?.toolChoice).toBe('none')
  })

  test('marks a tool call whose arguments are not an object', async () => {
    fake.script(callTools([{ name: 'weather', arguments: '{"city": "Os' }]))
    const turn = await model.turn({ ...hello, tools: [weather] })
    expect(turn.tool_calls).toMatchObject([{ name: 'weather', arguments: {}, malformed: true }])
  })

  test('reports a tool call of the model when tool calls are not allowed', async () => {
    fake.script(callTools([{ name: 'weather', arguments: { city: 'Oslo' } }]))
    const problem = await problemOf(model.turn({ ...hello, tools: [weather], toolChoice: 'none' }))
    expect(problem.code).toBe('tool_choice_ignored')
    expect(fake.count()).toBe(1)
  })

  test('returns a call of a tool that was not offered', async () => {
    fake.script(callTools([{ name: 'launch', arguments: { at: 'once' } }]))
    const turn = await model.turn({ ...hello, tools: [weather] })
    expect(turn.tool_calls).toMatchObject([{ name: 'launch' }])
  })

  test.each([
    ['the model refuses', refuse('I cannot help with that')],
    ['a filter of the provider applies', filtered()],
  ])('reports a refusal when %s', async (_what, answer) => {
    fake.otherwise(answer)
    expect((await problemOf(model.generate(hello))).code).toBe('model_refused')
    expect((await problemOf(model.generateObject({ ...hello, schema: person }))).code).toBe('model_refused')
    expect(await model.turn({ ...hello, tools: [weather] })).toMatchObject({ finish: 'refused', tool_calls: [] })
    expect(fake.count()).toBe(3)
  })

  test('reports an empty response as invalid', async () => {
    fake.script(say(''))
    expect((await problemOf(model.generate(hello))).code).toBe('model_output_invalid')
  })

  test.each([
    ['a rate limit', status(429, undefined, { 'retry-after-ms': '1' })],
    ['an overloaded server', status(503)],
    ['a broken connection', cut()],
    ['an answer that is not JSON', raw('<html>')],
  ])('retries after %s', async (_what, answer) => {
    fake.script(answer, say('second time lucky'))
    expect((await model.generate(hello)).text).toBe('second time lucky')
  })

  test.each([
    ['a rate limit', status(429), 'provider_busy', 3],
    ['a broken server', status(500), 'provider_unavailable', 3],
    ['an unexpected answer', raw('{"hello": "world"}'), 'provider_unavailable', 3],
    [
      'a refused request',
      status(400, { error: { message: 'no', type: 'x', code: 'context_length_exceeded' } }),
      'provider_refused',
      1,
    ],
    [
      'used-up credit',
      status(429, { error: { message: 'pay', type: 'x', code: 'insufficient_quota' } }),
      'provider_refused',
      1,
    ],
    [
      'an unknown model',
      status(404, { error: { message: 'no', type: 'x', code: 'model_not_found' } }),
      'provider_refused',
      1,
    ],
  ])('gives up on %s', async (_what, answer, code, requests) => {
    fake.otherwise(answer)
    expect((await problemOf(model.generate(hello))).code).toBe(code)
    expect(fake.count()).toBe(requests)
  })

  test('reports the short code of a refusal, but not its text', async () => {
    fake.script(status(400, { error: { message: `${FAKE_KEY} is mine`, type: 'x', code: 'context_length_exceeded' } }))
    const { message } = await problemOf(model.generate(hello))
    expect(message).toBe('the language model provider refused the request with status 400 (context_length_exceeded)')
  })

  test('never shows the key that was refused', async () => {
    const wrong = 'sk-wrong-key-that-must-not-be-seen'
    const problem = await problemOf(make({ apiKey: wrong }).generate(hello))
    expect(problem.code).toBe('provider_refused')
    expect(fake.refused.splice(0)[0]).toContain(wrong)
    expect(`${problem.stack}${JSON.stringify(problem)}${String(problem.cause)}`).not.toContain('sk-wrong')
  })

  test('stops waiting after its timeout', async () => {
    fake.otherwise(hang())
    const problem = await problemOf(make({}, { timeoutMs: 50 }).generate(hello))
    expect(problem).toMatchObject({ code: 'model_timeout', message: 'the language model did not answer within 0.05 s' })
  })

  test('stops when the caller aborts, with the caller’s reason', async () => {
    const stop = new AbortController()
    fake.otherwise(() => {
      stop.abort(new Error('cancelled'))
      return hang()
    })
    await expect(model.generate({ ...hello, signal: stop.signal })).rejects.toThrow('cancelled')
  })

  test('does not send the key to the target of a redirect', async () => {
    let reached = 0
    const elsewhere = createServer((_request, response) => {
      reached += 1
      response.end()
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    fake.otherwise(redirect(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/chat/completions`))
    expect((await problemOf(model.generate(hello))).code).toBe('provider_unavailable')
    expect(reached).toBe(0)
    elsewhere.close()
  })

  test('removes characters that cannot be stored', async () => {
    const bad = 'a\u0000b\ud800c'
    fake.script(say(bad), json({ name: bad }), callTools([{ name: 'weather', arguments: { city: bad } }]))
    expect((await model.generate(hello)).text).toBe('ab\ufffdc')
    expect((await model.generateObject({ ...hello, schema: person })).value).toEqual({ name: 'ab\ufffdc' })
    expect((await model.turn({ ...hello, tools: [weather] })).tool_calls[0]?.arguments).toEqual({ city: 'ab\ufffdc' })
  })

  test('reports an unreachable provider as unavailable', async () => {
    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    const problem = await problemOf(make({ baseUrl: `http://127.0.0.1:${port}/v1` }).generate(hello))
    expect(problem).toMatchObject({ code: 'provider_unavailable', message: 'the language model cannot be reached' })
  })
})

describe('usage', () => {
  const make = () =>
    makeSdkModel({ provider: 'openai-compatible', model: 'fake-model', apiKey: FAKE_KEY, baseUrl: fake.baseUrl })

  test('includes the cost if the provider reports it', async () => {
    fake.script(say('hi', { input: 1, output: 2, cost: 0.003 }))
    expect((await make().generate(hello)).usage).toEqual({ input_tokens: 1, output_tokens: 2, cost: 0.003 })
  })

  test('is estimated and marked as estimated if the provider does not report it', async () => {
    fake.script(say('12345678', null))
    expect((await make().generate(hello)).usage).toMatchObject({ output_tokens: 2, estimated: true })
  })
})

describe('the configured language model', () => {
  const none = { LLM_PROVIDER: null, LLM_MODEL: null, LLM_API_KEY: null, LLM_BASE_URL: null }

  test.each([
    [none, 'LLM_PROVIDER'],
    [{ ...none, LLM_PROVIDER: 'openai' as const }, 'LLM_MODEL'],
    [{ ...none, LLM_PROVIDER: 'openai' as const, LLM_MODEL: 'm' }, 'LLM_API_KEY'],
    [{ ...none, LLM_PROVIDER: 'anthropic' as const, LLM_MODEL: '../m', LLM_API_KEY: 'k' }, 'LLM_MODEL'],
    [{ ...none, LLM_PROVIDER: 'openai-compatible' as const, LLM_MODEL: 'm' }, 'LLM_BASE_URL'],
  ])('with %j reports which setting is missing or wrong', async (config, setting) => {
    const model = makeLanguageModel(config)
    expect(model.available()).toContain(setting)
    expect((await problemOf(model.generate(hello))).code).toBe('provider_not_configured')
  })

  test('uses the address in the settings', async () => {
    const model = makeLanguageModel({
      LLM_PROVIDER: 'openai',
      LLM_MODEL: 'fake-model',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: fake.baseUrl,
    })
    expect(model.available()).toBeNull()
    expect(model.name).toBe('openai/fake-model')
    expect((await model.generate(hello)).text).toBe('ok')
    expect(fake.asked[0]?.protocol).toBe('chat')
  })
})
