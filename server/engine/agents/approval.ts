import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { ToolCall } from '#providers/llm/index'
import type { AgentTool } from './tools.ts'

// People decide about one call of a tool. The payload that they vote on is the call itself, so an approval holds for these
// arguments and no others: what the model asks for next is another payload and another vote.

export type Decision = { outcome: string; why: string }

const MAX_WHY = 2_000

/** Throws `Suspended` until people have decided. */
export async function askApproval(call: NodeCall, key: string, wanted: ToolCall, tool: AgentTool): Promise<Decision> {
  const policy = tool.approval
  if (call.openGate === undefined || policy === undefined)
    throw new NodeFailure('tool_not_grantable', `${tool.title} needs approval, which cannot be asked for here`, {
      retryable: false,
    })
  const payload: JsonObject = {
    tool: tool.title,
    arguments: { ...(wanted.arguments as JsonObject), ...tool.fixed },
    call: key.replace('tool:', ''),
  }
  const decided = await call.openGate({ title: `Allow the agent to call ${tool.title}`.slice(0, 500), payload, policy })
  return { outcome: decided.outcome, why: reasonsOf(decided.output) }
}

/** What the voters said about it, for the model. */
function reasonsOf(output: Json): string {
  const votes = isObject(output) && Array.isArray(output.votes) ? output.votes : []
  return votes
    .flatMap((vote) =>
      isObject(vote) && typeof vote.comment === 'string' && vote.comment !== '' ? [vote.comment] : [],
    )
    .join('; ')
    .slice(0, MAX_WHY)
}
