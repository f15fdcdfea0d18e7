import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Prompt } from './index.ts'
import { makeSdkModel } from './sdk.ts'

// Tests the protocols of Anthropic and Google with a conversation that uses a tool.

type Seen = { url: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }

let baseUrl: string
let seen: Seen[] = []
let answers: unknown[] = []

const server = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>
  seen.push({ url: request.url ?? '', headers: request.headers, body })
  const answer = answers.shift()
  if (Array.isArray(answer)) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answer.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
beforeEach(() => {
  seen = []
  answers = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const weather = {
  name: 'weather',
  description: 'The weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const prompt: Prompt = { system: 'Be brief', messages: [{ role: 'user', text: 'Oslo?' }], maxTokens: 100 }
const afterTool = (call: { id: string; name: string; arguments: { city: string }; signature?: string }): Prompt => ({
  ...prompt,
  messages: [
    ...prompt.messages,
    { role: 'assistant', text: '', tool_calls: [call] },
    { role: 'tool', call_id: call.id, name: 'weather', text: '7' },
  ],
})

describe('anthropic', () => {
  const make = () =>
    makeSdkModel({ provider: 'anthropic', model: 'claude-x', apiKey: 'key-a', baseUrl }, { backoffMs: 1 })
  const message = (content: unknown[], stop_reason: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 4 },
  })

  test('answers, calls tools and accepts their results', async () => {
    answers = [
      message([{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }], 'tool_use'),
      message([{ type: 'text', text: '7 degrees' }], 'end_turn'),
    ]
    const first = await make().turn({ ...prompt, tools: [weather] })
    expect(first).toEqual({
      text: '',
      tool_calls: [{ id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } }],
      finish: 'tools',
      usage: { input_tokens: 11, output_tokens: 4 },
    })
    const call = { id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } }
    const second = await make().turn({ ...afterTool(call), tools: [weather], toolChoice: 'none' })
    expect(second).toMatchObject({ text: '7 degrees', finish: 'stop' })
    expect(seen[0]).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': 'key-a' }, body: { max_tokens: 100 } })
    expect(JSON.stringify(seen[1]?.body.messages)).toContain('"tool_use_id":"toolu_1"')
  })

  test('returns objects, and reports a refusal', async () => {
    const object = JSON.stringify({ city: 'Oslo' })
    answers = [message([{ type: 'text', text: object }], 'end_turn'), message([], 'refusal')]
    const model = make()
    expect((await model.generateObject({ ...prompt, schema: weather.schema })).value).toEqual({ city: 'Oslo' })
    await expect(model.generate(prompt)).rejects.toMatchObject({ code: 'model_refused' })
  })

  test('repeats a stream that ends without its last events', async () => {
    const half = [
      { type: 'message_start', message: message([], '') },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '7 deg' } },
    ]
    const end = [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ]
    answers = [half, [...half, ...end]]
    expect(await make().generate({ ...prompt, onText: () => {} })).toMatchObject({ text: '7 deg', finish: 'stop' })
    expect(seen).toHaveLength(2)
  })
})

describe('google', () => {
  const make = () => makeSdkModel({ provider: 'google', model: 'gemini-x', apiKey: 'key-g', baseUrl }, { backoffMs: 1 })
  const candidate = (parts: unknown[], finishReason = 'STOP') => ({
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 },
  })

  test('answers, calls tools, and receives the signature of its call back', async () => {
    answers = [
      candidate([{ functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'sig-1' }]),
      candidate([{ text: '7 degrees' }]),
    ]
    const first = await make().turn({ ...prompt, tools: [weather] })
    expect(first).toMatchObject({
      tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' }, signature: 'sig-1' }],
      finish: 'tools',
      usage: { input_tokens: 8, output_tokens: 3 },
    })
    const [call] = JSON.parse(JSON.stringify(first.tool_calls)) as [Parameters<typeof afterTool>[0]]
    expect((await make().turn({ ...afterTool(call), tools: [weather] })).text).toBe('7 degrees')
    expect(seen[0]).toMatchObject({
      url: '/v1/models/gemini-x:generateContent',
      headers: { 'x-goog-api-key': 'key-g' },
    })
    expect(JSON.stringify(seen[1]?.body.contents)).toContain('"thoughtSignature":"sig-1"')
  })

  test('returns objects, and reports that a filter blocked the response', async () => {
    answers = [candidate([{ text: '{"city": "Oslo"}' }]), candidate([{ text: '' }], 'SAFETY')]
    const model = make()
    expect((await model.generateObject({ ...prompt, schema: weather.schema })).value).toEqual({ city: 'Oslo' })
    await expect(model.generate(prompt)).rejects.toMatchObject({ code: 'model_refused' })
  })

  test('repeats a stream that ends without its last events', async () => {
    const half = { candidates: [{ content: { role: 'model', parts: [{ text: '7 deg' }] }, index: 0 }] }
    answers = [[half], [half, candidate([{ text: 'rees' }])]]
    expect(await make().generate({ ...prompt, onText: () => {} })).toMatchObject({ text: '7 degrees', finish: 'stop' })
    expect(seen).toHaveLength(2)
  })
})
