import { viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { isReply, type Message, type Reply, RpcMessage, RpcReply, readMessage, rpcError } from './rpc.ts'
import { answerMessage, isKnownVersion, type McpParts } from './service.ts'

export const mcpRoutes = (parts: McpParts): AnyRoute[] =>
  routes(
    'MCP',
    { callMcp: ['POST', '/mcp', viewer('workspace'), 'run'] },
    {
      callMcp: {
        summary: 'Heddle as a server of the Model Context Protocol (streamable HTTP): workflows as tools',
        description:
          'One message of JSON-RPC: `initialize`, `ping`, `tools/list`, `tools/call`. Takes an API key, or a token of OAuth 2.1 (`/.well-known/oauth-protected-resource/mcp`). The tools are the workflows with `settings.mcp_tool` that their person may run. A call with a progress token is answered as `text/event-stream`.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/json'],
        described: { json: RpcMessage, answers: { 200: RpcReply, 202: null, 400: RpcReply } },
        produces: ['application/json', 'text/event-stream'],
        alsoStatus: [202],
        examples: {
          body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          answer: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
        },
        transaction: false,
        challenge: (base) => `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`,
        idempotency: 'own',
        run: (ctx: Context, { body }: { body: Buffer }, exchange: Exchange) => answer(parts, ctx, body, exchange),
      },
    },
  )

/** The first message negotiates the version, so its header does not count. */
const versionFault = ({ id, method }: Message, header: string | string[] | undefined): Reply | undefined =>
  method === 'initialize' || isKnownVersion(header)
    ? undefined
    : rpcError(id ?? null, -32600, 'the version in MCP-Protocol-Version is not supported')

async function answer(parts: McpParts, ctx: Context, body: Buffer, exchange: Exchange): Promise<void> {
  const { request, reply } = exchange
  const message = readMessage(body, ctx.config.HEDDLE_MAX_JSON_DEPTH)
  const refused = isReply(message) ? message : versionFault(message, request.headers['mcp-protocol-version'])
  if (refused !== undefined || isReply(message)) {
    reply.code(400).header('content-type', 'application/json').send(JSON.stringify(refused))
    return
  }
  const answered = await answerMessage(parts, ctx, message, exchange)
  if (reply.raw.headersSent) reply.raw.end(`event: message\ndata: ${JSON.stringify(answered)}\n\n`)
  else if (answered === undefined) reply.code(202).send()
  else reply.header('content-type', 'application/json').send(JSON.stringify(answered))
}
