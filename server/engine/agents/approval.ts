import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { ToolCall } from '#providers/llm/index'
import type { AgentTool } from './tools.ts'

// People decide about one call of a tool. The payload that they vote on is the call itself, so an approval holds for these
// arguments and no others: what the model asks for next is another payload and another vote.

export type Decision = { outcome: string; why: string }

/** The vote wakes the run. This is for a vote that came while the node was still running. */
const LOOK_AGAIN_S = 30
const MAX_LOOK_AGAIN_S = 3_600
const MAX_WHY = 2_000

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
  if (decided !== null) return { outcome: decided.outcome, why: reasonsOf(decided.output) }
  throw new NodeFailure('waiting_for_approval', `${tool.title} waits for approval`, {
    postponeS: Math.min(MAX_LOOK_AGAIN_S, LOOK_AGAIN_S * 2 ** Math.min(call.attempt - 1, 10)),
  })
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
