import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { ToolCall } from '#providers/llm/index'
import { type CallBounds, chosenOf } from './call-bounds.ts'
import type { AgentTool } from './tools.ts'

// People decide about one tool call. The payload that they vote on is the call itself, so an approval applies only to
// these arguments. The next call of the model, and arguments that people edited, are a new payload and need a new
// vote.

/**
 * `edited`: the arguments, without the fixed ones, that people approved instead of the model's, and who edited them.
 */
export type Decision = { outcome: string; why: string; edited?: { arguments: JsonObject; by: string } }

const MAX_WHY = 2_000

/** Throws `Suspended` until people have decided. */
export async function askApproval(call: NodeCall, key: string, wanted: ToolCall, tool: AgentTool): Promise<Decision> {
  const policy = tool.approval
  if (call.openGate === undefined || policy === undefined)
    throw new NodeFailure('tool_not_grantable', `${tool.title} needs approval, which cannot be requested here`, {
      retryable: false,
    })
  const { bounds } = tool
  const payload: JsonObject = {
    tool: tool.title,
    arguments: { ...(wanted.arguments as JsonObject), ...bounds?.fixed },
    call: key.replace('tool:', ''),
  }
  const title = `Allow the agent to call ${tool.title}`.slice(0, 500)
  const { outcome, output } = await call.openGate({ title, payload, policy }, bounds)
  const edited = bounds && editedIn(output, bounds)
  return { outcome, why: reasonsOf(output), ...(edited && { edited }) }
}

function editedIn(output: Json, bounds: CallBounds): Decision['edited'] {
  const { payload, edited_by } = isObject(output) ? output : {}
  if (!isObject(payload) || !isObject(payload.arguments) || !isObject(edited_by)) return undefined
  const { chosen, problems } = chosenOf(bounds, payload.arguments)
  // The arguments were checked against the same bounds when they were edited. A definition does not change during an
  // execution.
  if (problems.length > 0)
    throw new NodeFailure('args_invalid', 'the approved arguments are not allowed for this tool', {
      retryable: false,
    })
  return { arguments: chosen, by: String(edited_by.name) }
}

/** Returns the comments of the voters, for the model. */
function reasonsOf(output: Json): string {
  const votes = isObject(output) && Array.isArray(output.votes) ? output.votes : []
  return votes
    .flatMap((vote) =>
      isObject(vote) && typeof vote.comment === 'string' && vote.comment !== '' ? [vote.comment] : [],
    )
    .join('; ')
    .slice(0, MAX_WHY)
}
