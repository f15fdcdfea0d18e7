import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { startVendor } from '#test/fakes/vendor'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'

// Tests the service with the protocol's official client.

const service = useSharedService()
let world: World
let tool: string
beforeAll(async () => {
  world = await makeWorld(service())
  const made = await makeTool('Add ümlauts & numbers', {
    inputs: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
    nodes: [
      { id: 'sum', type: 'set', args: { values: { sum: { $cel: 'input.a + input.b' } } } },
      { id: 'shown', type: 'set', args: { values: { text: { $cel: 'string(nodes.sum.output.sum)' } } } },
    ],
    edges: [{ from: { node: 'sum' }, to: 'shown' }],
    output: { $ref: 'nodes.sum.output' },
  })
  tool = `add_u_mlauts_numbers_${made.slice(-6)}`
})

async function makeTool(name: string, definition: object, settings: object = { mcp_tool: true }): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name, definition, settings } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}

async function connect(person: TestPerson): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service().base), {
    requestInit: { headers: { authorization: `Bearer ${person.key}` } },
  })
  await client.connect(transport as never)
  return client
}

const nothing = { nodes: [{ id: 'n', type: 'set', args: { values: { a: 1 } } }], edges: [] }

describe('the official client', () => {
  test('finds the selected workflows that its person may run, and no others', async () => {
    await makeTool('Not chosen', nothing, {})
    const client = await connect(world.owner)
    expect(client.getServerVersion()).toMatchObject({ name: 'heddle' })
    const { tools } = await client.listTools()
    expect(tools).toEqual([
      {
        name: tool,
        title: 'Add ümlauts & numbers',
        description: expect.stringContaining('Add ümlauts & numbers'),
        inputSchema: expect.objectContaining({ type: 'object', required: ['a', 'b'] }),
      },
    ])
    await client.close()
    const other = await connect(world.member)
    expect((await other.listTools()).tools).toEqual([])
    await expect(other.callTool({ name: tool, arguments: { a: 1, b: 2 } })).rejects.toThrow('no such tool')
    await other.close()
  })

  test('runs a tool and receives its progress', async () => {
    const client = await connect(world.owner)
    const plain = await client.callTool({ name: tool, arguments: { a: 1, b: 2 } })
    expect(plain).toEqual({ content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } })
    const progress: { progress: number; total?: number | undefined }[] = []
    const followed = await client.callTool({ name: tool, arguments: { a: 2, b: 2 } }, undefined, {
      onprogress: (step) => progress.push(step),
    })
    expect(followed.structuredContent).toEqual({ sum: 4 })
    expect(progress.at(-1)).toMatchObject({ progress: 2, total: 2 })
    await client.close()
  })

  test('receives errors in the arguments, failures of executions, and the status of a waiting execution', async () => {
    const failing = await makeTool('Failing', {
      nodes: [{ id: 'no', type: 'fail', args: { code: 'no_stock', message: 'Nothing is left' } }],
      edges: [],
    })
    const asking = await makeTool('Asking', {
      nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which?' } }],
      edges: [],
    })
    const client = await connect(world.owner)
    const textOf = (result: object): string => (result as { content: { text: string }[] }).content[0]!.text
    const wrong = await client.callTool({ name: tool, arguments: { a: 'one', b: 2 } })
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('/input/a')])
    const failed = await client.callTool({ name: `failing_${failing.slice(-6)}`, arguments: {} })
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining('no_stock: Nothing is left')])
    const waiting = await client.callTool({ name: `asking_${asking.slice(-6)}`, arguments: {} }, undefined, {
      onprogress: () => undefined,
    })
    expect(waiting.structuredContent).toMatchObject({ status: 'waiting', execution_id: expect.stringMatching(/^exe_/) })
    await client.close()
  })
})

test.each([
  ['not JSON', -32700],
  ['', -32600],
  [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`, -32700],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\u0000"}}', -32700],
  ['[]', -32600],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602],
])('the message %.60s is refused with %i', async (body, code) => {
  const refused = await world.owner.call('POST', '/mcp', {
    raw: Buffer.from(body),
    headers: { 'content-type': 'application/json' },
  })
  expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, code])
})

test('a message with an unknown version of the protocol is refused, except the one that negotiates it', async () => {
  const say = (method: string, version: string) =>
    world.owner.call('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 7, method },
      headers: { 'mcp-protocol-version': version },
    })
  expect((await say('ping', '2025-06-18')).status).toBe(200)
  expect((await say('initialize', '1999-01-01')).status).toBe(200)
  expect(await say('ping', '1999-01-01')).toMatchObject({ status: 400, body: { id: 7, error: { code: -32600 } } })
})

test('tools are listed page by page, without schemas of more than 16 KiB', async () => {
  const { member } = world
  const made = async (name: string, inputs?: object) => {
    const body = { name, definition: { ...nothing, ...(inputs && { inputs }) }, settings: { mcp_tool: true } }
    expect((await member.call('POST', '/api/workflows', { body })).status).toBe(201)
  }
  await made('Large', { type: 'object', required: ['a'], description: 'x'.repeat(17_000) })
  for (let n = 0; n < 50; n += 1) await made(`Tool ${n}`, { type: 'object', required: ['a'] })
  const client = await connect(member)
  const first = await client.listTools()
  expect(first.tools).toHaveLength(50)
  expect(first.tools.map(({ inputSchema }) => inputSchema.required?.[0])).toEqual([undefined, ...Array(49).fill('a')])
  const second = await client.listTools({ cursor: first.nextCursor! })
  expect([second.tools.map(({ title }) => title), second.nextCursor]).toEqual([['Tool 49'], undefined])
  await expect(client.listTools({ cursor: 'elsewhere' })).rejects.toThrow('not one of this list')
  const { name } = first.tools[0]!
  expect(JSON.stringify(await client.callTool({ name, arguments: {} }))).toContain('/input/a')
  await client.close()
})

test('a call that is still running returns nothing after its key was deleted', async () => {
  const slow = await startVendor()
  try {
    service().allow(slow.host)
    let respond = (): void => undefined
    slow.answer = (_request, response) => {
      respond = () => response.writeHead(200).end('the answer')
    }
    const node = { id: 'n', type: 'http.request', args: { url: slow.url } }
    const made = await makeTool('Slow', { nodes: [node], edges: [], output: { $ref: 'nodes.n.output.body' } })
    const { body: key } = await world.owner.call('POST', '/auth/api-keys', { body: { name: 'for a while' } })
    const call = (progressToken?: number) =>
      service().call('POST', '/mcp', {
        token: key.key,
        headers: { accept: 'application/json, text/event-stream' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: `slow_${made.slice(-6)}`, arguments: {}, ...(progressToken && { _meta: { progressToken } }) },
        },
      })
    const followed = call(7)
    await until(async () => slow.seen.length === 1, 'the request')
    const first = respond
    const quiet = call()
    await until(async () => slow.seen.length === 2, 'the second request')
    expect((await world.owner.call('DELETE', `/auth/api-keys/${key.key_id}`)).status).toBe(204)
    first()
    respond()
    for (const { text } of await Promise.all([followed, quiet])) {
      expect(text).toContain('Your access has ended')
      expect(text).not.toContain('the answer')
    }
  } finally {
    await slow.stop()
  }
})

test('an unknown method is refused, a notification gets no reply, and there is no stream for GET', async () => {
  const say = (body: object) => world.owner.call('POST', '/mcp', { body })
  expect((await say({ jsonrpc: '2.0', id: 1, method: 'resources/list' })).body.error.code).toBe(-32601)
  expect((await say({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  expect((await world.owner.call('GET', '/mcp')).status).toBe(405)
  expect((await service().call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status).toBe(401)
})
