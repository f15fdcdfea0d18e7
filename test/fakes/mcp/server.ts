import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// A local tool server that speaks MCP over streamable HTTP, as strictly as the protocol allows.

type Message = { jsonrpc?: string; id?: number; method?: string; params?: Record<string, unknown> }
export type McpCall = { name: string; arguments: Record<string, unknown>; idempotencyKey: unknown }

export type FakeMcp = {
  url: string
  /** host:port, for the list of private targets that tenants may reach. */
  target: string
  calls: McpCall[]
  /** The `traceparent` header of each request. */
  traceparents: (string | undefined)[]
  /** Tools that the server lists in addition to its own. */
  more: object[]
  /** Returns the number of sessions that were opened and not closed. */
  openSessions(): number
  mode: { answers: 'json' | 'events' | 'open-events' | 'broken' | 'hang'; token: string | null; version: string }
  /** Called for each tools/call before it is answered. */
  onCall: (call: McpCall) => void
  close(): Promise<void>
}

const TOOLS = [
  {
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
  },
  { name: 'fail', description: 'Always fails', inputSchema: { type: 'object' } },
]

export const startFakeMcp = async (): Promise<FakeMcp> => {
  const sessions = new Map<string, { ready: boolean }>()
  let opened = 0

  const respond = (message: Message): unknown => {
    const params = message.params ?? {}
    switch (message.method) {
      case 'tools/list':
        // The list has two pages.
        return params.cursor === 'second'
          ? { tools: [...fake.more, ...TOOLS.slice(1)] }
          : { tools: TOOLS.slice(0, 1), nextCursor: 'second' }
      case 'tools/call': {
        const call: McpCall = {
          name: String(params.name),
          arguments: params.arguments as Record<string, unknown>,
          idempotencyKey: (params._meta as Record<string, unknown> | undefined)?.['heddle/idempotency-key'],
        }
        fake.calls.push(call)
        fake.onCall(call)
        return resultOf(call)
      }
      default:
        throw Object.assign(new Error(`no method ${message.method}`), { code: -32601 })
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number) => response.writeHead(status).end()
    if (request.url !== '/mcp') return void refuse(404)
    fake.traceparents.push(request.headers.traceparent as string | undefined)
    if (fake.mode.token !== null && request.headers.authorization !== `Bearer ${fake.mode.token}`)
      return void refuse(401)
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    if (request.method === 'DELETE') return void refuse(session && sessions.delete(String(id)) ? 204 : 404)
    if (request.method !== 'POST') return void refuse(405)
    const accepted = String(request.headers.accept)
    if (!accepted.includes('application/json') || !accepted.includes('text/event-stream')) return void refuse(406)
    const message = JSON.parse(await readBody(request)) as Message
    if (message.jsonrpc !== '2.0') return void refuse(400)
    if (message.method === 'initialize') {
      opened += 1
      sessions.set(`session-${opened}`, { ready: false })
      const result = {
        protocolVersion: fake.mode.version,
        capabilities: { tools: {} },
        serverInfo: { name: 'fake', version: '1' },
      }
      response.setHeader('mcp-session-id', `session-${opened}`)
      return answer(response, { jsonrpc: '2.0', id: message.id, result })
    }
    if (!session) return void refuse(404)
    if (request.headers['mcp-protocol-version'] !== fake.mode.version) return void refuse(400)
    if (message.method === 'notifications/initialized') {
      session.ready = true
      return void refuse(202)
    }
    if (!session.ready) return void refuse(400)
    try {
      answer(response, { jsonrpc: '2.0', id: message.id, result: respond(message) })
    } catch (error) {
      const { code, message: words } = error as Error & { code?: number }
      answer(response, { jsonrpc: '2.0', id: message.id, error: { code: code ?? -32603, message: words } })
    }
  }

  const answer = (response: ServerResponse, message: object): void => {
    const { answers } = fake.mode
    if (answers === 'hang') return
    if (answers === 'broken')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc"')
    if (answers === 'json')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'working' } }
    response.write(`: hello\r\n\r\nevent: message\r\ndata: ${JSON.stringify(note)}\r\n\r\n`)
    const lines = JSON.stringify(message, null, 1).split('\n')
    response.write(`id: 7\nevent: message\n${lines.map((line) => `data: ${line}\n`).join('')}\n`)
    if (answers === 'events') response.end()
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const fake: FakeMcp = {
    url: `http://127.0.0.1:${port}/mcp`,
    target: `127.0.0.1:${port}`,
    calls: [],
    traceparents: [],
    more: [],
    openSessions: () => sessions.size,
    mode: { answers: 'json', token: null, version: '2025-06-18' },
    onCall: () => {},
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}
const wide = (keys: number): unknown => Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key ${key}`, 1]))

const resultOf = (call: McpCall): unknown => {
  if (call.name === 'add') {
    const sum = Number(call.arguments.a) + Number(call.arguments.b)
    return { content: [{ type: 'text', text: String(sum) }], structuredContent: { sum }, isError: false }
  }
  if (call.name === 'nest') return { content: nested(Number(call.arguments.levels)) }
  if (call.name === 'widen') return { content: wide(Number(call.arguments.keys)) }
  if (call.name === 'find') return { content: [{ type: 'text', text: 'found nothing' }] }
  if (call.name === 'fail') return { content: [{ type: 'text', text: 'the lift is stuck' }], isError: true }
  throw Object.assign(new Error(`Unknown tool: ${call.name}`), { code: -32602 })
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
