import { MCP_TIMEOUT, openMcpSession } from '#engine/agents/mcp-client'
import type { NodeCall } from '#engine/node'
import { beforeTheCall } from '#engine/nodes/mcp-call'
import type { JsonObject } from '#model/definition'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { Outgoing } from '#platform/outgoing/outgoing'

/**
 * Calls a tool of an MCP server that the workspace imported. The credential is added to the requests as they are
 * sent.
 */
export async function callMcpTool(
  { outgoing }: { outgoing: Pick<Outgoing, 'fetchWith'> },
  {
    url,
    tool,
    args,
    credential,
  }: { url: string; tool: string; args: JsonObject; credential: OutgoingCredential | undefined },
  { signal, effectKey, traceparent }: Pick<NodeCall, 'signal' | 'effectKey' | 'traceparent'>,
): Promise<JsonObject> {
  const fetch = outgoing.fetchWith(credential, { timeoutMs: MCP_TIMEOUT })
  const session = await openMcpSession(
    { fetch },
    { url, ...(traceparent && { headers: { traceparent } }) },
    signal,
  ).catch(beforeTheCall)
  try {
    return await session.callTool(tool, args, effectKey)
  } finally {
    await session.close()
  }
}
