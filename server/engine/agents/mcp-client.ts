import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import { SECOND } from '#platform/clock'
import { asOutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { retryAfterS } from '#platform/outgoing/retry-after'
import { readAnswer } from './mcp-answers.ts'

// A session with a tool server over MCP's streamable HTTP. The tenant chooses the address, so every request goes
// through the guarded HTTP client. Only these messages are used: initialize, tools/list, tools/call, and the end of
// the session.

export type McpServer = { url: string; headers?: Record<string, string>; credentialId?: string }
/** `readOnly`: the server declares that a call of the tool changes nothing. */
export type McpTool = { name: string; title: string; description: string; schema: JsonObject; readOnly: boolean }

export type McpSession = {
  listTools(): Promise<McpTool[]>
  /** Returns the tool's result as the server sent it. Throws `mcp_tool_error` if the result reports an error. */
  callTool(name: string, args: JsonObject, idempotencyKey: string): Promise<JsonObject>
  close(): Promise<void>
}

export const MCP_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
/** The timeout of a session, and of each pause of the server in it: a tool may work for a long time before it answers. */
export const MCP_TIMEOUT = 120 * SECOND
/** The timeout of the request that ends a session. The request is sent even if the call was aborted. */
const CLOSE_TIMEOUT = 3 * SECOND
const MAX_PAGES = 20
const MAX_TOOLS = 200

const broken = (message: string): NodeFailure => new NodeFailure('mcp_protocol', message, { retryable: false })

export const openMcpSession = async (
  outgoing: Pick<Outgoing, 'fetch'>,
  server: McpServer,
  outer: AbortSignal,
): Promise<McpSession> => {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(MCP_TIMEOUT)])
  let session: string | null = null
  let version: string | undefined
  let lastId = 0

  const send = async (method: 'POST' | 'DELETE', body: JsonObject | null, within = signal): Promise<Response> => {
    const headers: Record<string, string> = {
      ...server.headers,
      ...(body !== null && { 'content-type': 'application/json' }),
      accept: 'application/json, text/event-stream',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
      ...(session !== null && { 'mcp-session-id': session }),
    }
    try {
      return await outgoing.fetch(server.url, {
        method,
        headers,
        signal: within,
        ...(body && { body: JSON.stringify(body) }),
      })
    } catch (error) {
      outer.throwIfAborted()
      const failure = asOutgoingFailure(error)
      throw new NodeFailure(failure.code, `the tool server: ${failure.message}`, { retryable: failure.retryable })
    }
  }

  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    lastId += 1
    const response = await send('POST', { jsonrpc: '2.0', id: lastId, method, params })
    session ??= response.headers.get('mcp-session-id')
    if (!response.ok) throw await refusedWith(response)
    const answer = await readAnswer(response, lastId).catch((error: unknown) => {
      outer.throwIfAborted()
      if (error instanceof NodeFailure) throw error
      const failure = asOutgoingFailure(error)
      throw new NodeFailure(failure.code, `the tool server: ${failure.message}`, { retryable: failure.retryable })
    })
    return resultIn(answer, method)
  }

  const close = async (): Promise<void> => {
    if (session === null) return
    await send('DELETE', null, AbortSignal.timeout(CLOSE_TIMEOUT)).then(
      (response) => response.body?.cancel(),
      () => {},
    )
  }

  const greet = async (): Promise<void> => {
    const hello = await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'heddle', version: '1' },
    })
    version = MCP_VERSIONS.find((known) => known === hello.protocolVersion)
    if (version === undefined) throw broken('the tool server uses a version of the protocol that is not supported')
    const noted = await send('POST', { jsonrpc: '2.0', method: 'notifications/initialized' })
    await noted.body?.cancel()
  }
  await greet().catch(async (error: unknown) => {
    await close()
    throw error
  })

  return sessionOver(ask, close)
}

/** `ask` returns the result of a request, or throws. */
export function sessionOver(
  ask: (method: string, params: JsonObject) => Promise<JsonObject>,
  close: () => Promise<void>,
): McpSession {
  return {
    listTools: async () => {
      const tools: McpTool[] = []
      let cursor: Json | undefined
      for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
        const answer = await ask('tools/list', typeof cursor === 'string' ? { cursor } : {})
        const listed = own(answer, 'tools')
        if (!Array.isArray(listed)) throw broken('the tool server gave no list of tools')
        tools.push(...listed.flatMap(toolOf))
        cursor = own(answer, 'nextCursor')
        if (typeof cursor !== 'string') break
      }
      return tools.slice(0, MAX_TOOLS)
    },
    callTool: async (name, args, idempotencyKey) => {
      const _meta = { 'heddle/idempotency-key': idempotencyKey }
      const result = await ask('tools/call', { name, arguments: args, _meta })
      if (result.isError === true)
        throw new NodeFailure('mcp_tool_error', textOf(result) || `the tool ${name} failed`, {
          retryable: false,
          details: { content: own(result, 'content') ?? [] },
        })
      return result
    },
    close,
  }
}

export function resultIn(answer: JsonObject, method: string): JsonObject {
  const error = own(answer, 'error')
  if (error !== undefined) throw rpcFailure(error)
  const result = own(answer, 'result')
  if (!isObject(result)) throw broken(`the tool server gave no result for ${method}`)
  return result
}

const toolOf = (tool: Json): McpTool[] => {
  if (!isObject(tool) || typeof tool.name !== 'string' || tool.name === '' || tool.name.length > 128) return []
  const description = typeof tool.description === 'string' ? tool.description.slice(0, 1_000) : tool.name
  const annotations = isObject(tool.annotations) ? tool.annotations : {}
  const title = [tool.title, annotations.title].find((text) => typeof text === 'string' && text.trim() !== '')
  return [
    {
      name: tool.name,
      title: typeof title === 'string' ? title.slice(0, 120) : tool.name,
      description,
      schema: isObject(tool.inputSchema) ? tool.inputSchema : { type: 'object' },
      readOnly: annotations.readOnlyHint === true,
    },
  ]
}

/** Returns the text parts of a tool's result. */
const textOf = (result: JsonObject): string => {
  const content = own(result, 'content')
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
    .slice(0, 2_000)
}

const refusedWith = async (response: Response): Promise<NodeFailure> => {
  await response.body?.cancel()
  const retryable = response.status === 429 || response.status >= 500
  const [asked, date] = [response.headers.get('retry-after'), response.headers.get('date')]
  return new NodeFailure('mcp_status', `the tool server answered with status ${response.status}`, {
    retryable,
    retryAfterS: retryAfterS(asked ?? undefined, date ?? undefined),
  })
}

const rpcFailure = (error: Json): NodeFailure => {
  const { code, message } = isObject(error) ? error : {}
  const words = typeof message === 'string' ? message.slice(0, 500) : 'it does not say why'
  return new NodeFailure('mcp_error', `the tool server refused: ${words}`, {
    retryable: false,
    ...(typeof code === 'number' && { details: { code } }),
  })
}
