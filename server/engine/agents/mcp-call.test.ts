import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NodeFailure } from '#engine/node'
import { makeMcpCall } from '#engine/nodes/mcp-call'
import type { JsonObject } from '#model/definition'
import { makeOutgoing, type Outgoing } from '#platform/outgoing/outgoing'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { makeNodeCall } from '#test/harness/node-call'
import { readAnswer } from './mcp-answers.ts'

let mcp: FakeMcp
let outgoing: Outgoing

beforeAll(async () => {
  mcp = await startFakeMcp()
  outgoing = makeOutgoing({ allowTargets: [mcp.target] })
})
beforeEach(() => {
  mcp.calls.length = 0
  mcp.onCall = () => {}
  Object.assign(mcp.mode, { answers: 'json', token: null, version: '2025-06-18' })
})
afterEach(() => expect(mcp.openSessions()).toBe(0))
afterAll(() => Promise.all([mcp.close(), outgoing.close()]))

const add = { tool: 'add', arguments: { a: 2, b: 3 } }
const call = async (args: JsonObject, more: { outgoing?: Outgoing; signal?: AbortSignal } = {}) =>
  (
    await makeMcpCall({ outgoing: more.outgoing ?? outgoing }).run(
      makeNodeCall({ args: { server: { url: mcp.url }, ...args }, ...(more.signal && { signal: more.signal }) }),
    )
  ).output

const failureOf = async (promise: Promise<unknown>): Promise<NodeFailure> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(NodeFailure)
  return error as NodeFailure
}

describe('mcp.call', () => {
  test.each(['json', 'events', 'open-events'] as const)('returns the result of a tool over %s', async (answers) => {
    mcp.mode.answers = answers
    expect(await call(add)).toMatchObject({ content: [{ type: 'text', text: '5' }], structuredContent: { sum: 5 } })
    expect(mcp.calls).toEqual([{ name: 'add', arguments: { a: 2, b: 3 }, idempotencyKey: 'exe_1:agent' }])
  })

  test.each(['json', 'events'] as const)(
    'refuses a result that is nested too deeply or too wide, over %s',
    async (answers) => {
      mcp.mode.answers = answers
      const refused: JsonObject[] = [
        { tool: 'nest', arguments: { levels: 500 } },
        { tool: 'widen', arguments: { keys: 20_001 } },
      ]
      for (const args of refused)
        expect(await failureOf(call(args))).toMatchObject({ code: 'mcp_protocol', retryable: false })
      expect(await call({ tool: 'nest', arguments: { levels: 50 } })).toHaveProperty('content')
    },
  )

  test('reads an event stream at every chunk size', async () => {
    const message = { jsonrpc: '2.0', id: 1, result: { text: 'é' } }
    const lines = JSON.stringify(message, null, 1).split('\n')
    for (const end of ['\n', '\r', '\r\n']) {
      const text = [': hello', '', 'data: {}', '', ...lines.map((line) => `data: ${line}`), '', ''].join(end)
      const bytes = new TextEncoder().encode(text)
      for (const size of [1, 2, 3, 7, bytes.length]) {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let from = 0; from < bytes.length; from += size) controller.enqueue(bytes.slice(from, from + size))
            controller.close()
          },
        })
        const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
        expect(await readAnswer(response, 1)).toEqual(message)
      }
    }
  })

  test('accepts a plain address as the server', async () => {
    expect(await call({ ...add, server: mcp.url })).toMatchObject({ structuredContent: { sum: 5 } })
  })

  test('gives a tool two minutes to answer', async () => {
    const timeouts: unknown[] = []
    const fetchWith: Outgoing['fetchWith'] = (credential, options) => {
      timeouts.push(options?.timeoutMs)
      return outgoing.fetchWith(credential, options)
    }
    await call(add, { outgoing: { ...outgoing, fetchWith } })
    expect(timeouts).toEqual([120_000])
  })

  test('sends the configured headers to the server', async () => {
    mcp.mode.token = 'secret-token'
    const server = { url: mcp.url, headers: { Authorization: 'Bearer secret-token' } }
    expect(await call({ ...add, server })).toMatchObject({ structuredContent: { sum: 5 } })
    expect(await failureOf(call(add))).toMatchObject({ code: 'mcp_status', retryable: false })
  })

  test('fails if the tool reports an error', async () => {
    expect(await failureOf(call({ tool: 'fail' }))).toMatchObject({
      code: 'mcp_tool_error',
      message: 'the lift is stuck',
    })
  })

  test('reports an unknown tool as an error of the server', async () => {
    expect(await failureOf(call({ tool: 'launch' }))).toMatchObject({
      code: 'mcp_error',
      message: 'the tool server refused: Unknown tool: launch',
    })
  })

  test('reports an answer that is not JSON, and an unknown version, as protocol errors', async () => {
    mcp.mode.version = '1999-01-01'
    expect((await failureOf(call(add))).code).toBe('mcp_protocol')
    mcp.mode.version = '2025-06-18'
    mcp.onCall = () => {
      mcp.mode.answers = 'broken'
    }
    expect((await failureOf(call(add))).code).toBe('mcp_protocol')
  })

  test.each([
    ['no tool', { server: { url: 'https://example.com' } }],
    ['no address', { server: {}, tool: 'add' }],
    ['arguments that are a list', { tool: 'add', arguments: [1, 2] }],
  ])('is refused with %s', async (_what, args) => {
    expect((await failureOf(call(args as JsonObject))).code).toBe('args_invalid')
  })

  test('reports whether the tool may have been called', async () => {
    const away = createServer()
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
    const { port } = away.address() as AddressInfo
    await new Promise((resolve) => away.close(resolve))
    const open = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
    const unreached = await failureOf(call({ ...add, server: `http://127.0.0.1:${port}/mcp` }, { outgoing: open }))
    await open.close()
    expect(unreached).toMatchObject({ code: 'connection_failed', retryable: true, nothingDone: true })
    expect(await failureOf(call({ tool: 'unknown', arguments: {} }))).toMatchObject({ nothingDone: false })
  })

  test('stops when the execution is cancelled', async () => {
    const stop = new AbortController()
    mcp.onCall = () => {
      mcp.mode.answers = 'hang'
      stop.abort()
    }
    expect((await failureOf(call(add, { signal: stop.signal }))).code).toBe('aborted')
  })

  test('reaches no private address, either directly or by a redirect', async () => {
    let reached = 0
    const canary = createServer((_request, response) => {
      reached += 1
      response.end()
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const { port } = canary.address() as AddressInfo
    const guarded = makeOutgoing({ allowTargets: [] })
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f.1',
      '169.254.169.254',
    ]) {
      const failure = await failureOf(
        call({ ...add, server: { url: `http://${host}:${port}/mcp` } }, { outgoing: guarded }),
      )
      expect(failure.code).toBe('target_refused')
    }
    const door = createServer((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end()
    })
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
    const doorPort = (door.address() as AddressInfo).port
    const half = makeOutgoing({ allowTargets: [`127.0.0.1:${doorPort}`] })
    const url = `http://127.0.0.1:${doorPort}/mcp`
    expect((await failureOf(call({ ...add, server: { url } }, { outgoing: half }))).code).toBe('target_refused')
    expect(reached).toBe(0)
    canary.close()
    door.close()
    await Promise.all([guarded.close(), half.close()])
  })
})
