import { asNode } from '#engine/agents/failures'
import type { McpServer } from '#engine/agents/mcp-client'
import { type McpDeps, openServer } from '#engine/agents/tools'
import { credentialField } from '#engine/credentials'
import { NodeFailure, type NodeKind, NotStarted } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { checked, fields } from './kind.ts'

const address: JsonObject = { type: 'string', title: 'URL', minLength: 1, maxLength: 8_000 }
const headers: JsonObject = {
  type: 'object',
  title: 'Headers',
  maxProperties: 50,
  additionalProperties: { type: 'string' },
}

const serverField: JsonObject = {
  title: 'MCP server',
  description: 'The URL of an MCP server (streamable HTTP) and its headers',
  anyOf: [fields({ url: address, credential_id: credentialField(), headers }, ['url']), address],
}

export const serverOf = (value: Json): McpServer => {
  if (!isObject(value)) return { url: String(value) }
  const given = isObject(value.headers) ? value.headers : undefined
  return {
    url: String(value.url),
    ...(given && { headers: given as Record<string, string> }),
    ...(typeof value.credential_id === 'string' && { credentialId: value.credential_id }),
  }
}

export type { McpDeps }

/** Marks an error that occurred before the tool was called. */
export const beforeTheCall = (error: unknown): never => {
  if (!(error instanceof NodeFailure)) throw new NotStarted(error)
  const { code, message, details, retryable, retryAfterS } = error
  throw new NodeFailure(code, message, { details, retryable, retryAfterS, nothingDone: true })
}

export const makeMcpCall = (deps: McpDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'mcp.call',
      kind: 'tool',
      group: 'tools',
      title: 'Call an MCP tool',
      description:
        'Calls a tool of an MCP server over streamable HTTP. The tool is never called twice: an attempt that was interrupted is not repeated; an attempt that did not reach the server can be repeated.',
      icon: 'plug',
      colour: '#4338ca',
      keywords: ['mcp', 'tool', 'server', 'model context protocol'],
      args_schema: fields(
        {
          server: serverField,
          tool: { type: 'string', title: 'Tool', minLength: 1, maxLength: 128 },
          arguments: { type: 'object', title: 'Arguments' },
        },
        ['server', 'tool'],
      ),
      output_schema: {
        type: 'object',
        description: "The tool's result",
        properties: { content: { type: 'array' }, structuredContent: { type: 'object' } },
      },
      ports: ['out'],
      effect: 'at_most_once',
      defaults: { server: { url: 'https://example.com/mcp' }, tool: '', arguments: {} },
    },
    run: (call) =>
      asNode(call.signal, async () => {
        const { args, effectKey } = call
        const session = await openServer(deps, serverOf(args.server as Json), call).catch(beforeTheCall)
        try {
          const given = isObject(args.arguments) ? args.arguments : {}
          return { output: await session.callTool(String(args.tool), given, effectKey) }
        } finally {
          await session.close()
        }
      }),
  })
