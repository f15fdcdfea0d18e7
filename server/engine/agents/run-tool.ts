import { randomUUID } from 'node:crypto'
import { callWith, type NodeCall, NodeFailure, Suspended } from '#engine/node'
import { platformFault } from '#engine/platform-fault'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { toStorableText } from '#model/storable'
import { clip } from '#providers/llm/fence'
import type { ToolCall } from '#providers/llm/index'
import { askApproval, type Decision } from './approval.ts'
import type { AgentTool } from './tools.ts'

// One tool call of an agent. The result for the model is journalled once; an attempt that takes over reads it from
// the journal.

export type ToolOutcome = ({ ok: true; text: string } | { ok: false; code: string; text: string }) & {
  /** The arguments after people edited them and before they approved the call. */
  edited?: NonNullable<Decision['edited']>
}

const MAX_RESULT = 16_000

const failed = (code: string, text: string): ToolOutcome => ({ ok: false, code, text: clip(text, MAX_RESULT).text })

/**
 * `key` names the step (`tool:2.0`). It is the same on every attempt, and is part of the effect key of the tool call.
 */
export const runTool = async (
  call: NodeCall,
  key: string,
  wanted: ToolCall,
  tool: AgentTool | undefined,
): Promise<ToolOutcome> => {
  const refusal = refusalOf(wanted, tool)
  if (tool === undefined || refusal !== undefined) {
    const outcome = refusal ?? failed('unknown_tool', 'there is no such tool')
    return call.step(key, async () => outcome)
  }
  let edited: Decision['edited']
  if (tool.approval !== undefined) {
    const decision = await call.step(`${key}/approval`, () => askApproval(call, key, wanted, tool))
    if (decision.outcome !== 'approved')
      return call.step(key, async () =>
        failed('not_approved', `The call was not approved and was not made. ${decision.why}`),
      )
    edited = decision.edited
  }
  const begun = tool.effect === 'at_most_once' ? await markBegun(call, key) : true
  const work = async (): Promise<ToolOutcome> => {
    if (!begun)
      return failed('outcome_unknown', 'The call was interrupted. It may have taken effect, so it was not repeated.')
    try {
      const output = await tool.run(
        callWith(call, {
          args: edited?.arguments ?? (wanted.arguments as JsonObject),
          effectKey: `${call.effectKey}:${key}`,
          step: (name, work) => call.step(`${key}/${name}`, work),
          say: async (name, lines) => call.say?.(`${key}/${name}`, lines),
        }),
      )
      return { ok: true, text: clip(asText(output), MAX_RESULT).text }
    } catch (error) {
      // A fault of the platform is not a result. A repeatable tool is called again, so the model receives the real
      // result.
      if (
        error instanceof Suspended ||
        call.signal.aborted ||
        (tool.effect !== 'at_most_once' && platformFault(error, 'node'))
      )
        throw error
      if (error instanceof NodeFailure) return failed(error.code, `${error.code}: ${error.message}${detailsOf(error)}`)
      call.log.warn({ err: error, execution_id: call.executionId, tool: tool.title }, 'a tool of an agent threw')
      return failed('internal', 'the tool failed because of an internal error')
    }
  }
  return call.step(key, async () => told(await work(), edited))
}

/** Tells the model that people changed the arguments, so that it continues from the call that was really made. */
function told(outcome: ToolOutcome, edited: Decision['edited']): ToolOutcome {
  if (edited === undefined) return outcome
  const said = `Before they approved the call, people changed its arguments to ${JSON.stringify(edited.arguments)}.`
  return { ...outcome, text: clip(`${said}\n${outcome.text}`, MAX_RESULT).text, edited }
}

/** Returns false if an earlier attempt started the call: the journal then contains the mark of that attempt. */
const markBegun = async (call: NodeCall, key: string): Promise<boolean> => {
  const mark = randomUUID()
  return (await call.step(`${key}:begun`, async () => mark)) === mark
}

const refusalOf = (wanted: ToolCall, tool: AgentTool | undefined): ToolOutcome | undefined => {
  if (tool === undefined) return failed('unknown_tool', `there is no tool "${wanted.name.slice(0, 100)}"`)
  if (wanted.malformed || !isObject(wanted.arguments))
    return failed('args_invalid', 'the arguments are not a JSON object; nothing was done')
  const problems = tool.check(wanted.arguments)
  if (problems.length === 0) return undefined
  return failed(
    'args_invalid',
    `the arguments are not valid; nothing was done:\n${problems.map((line) => `- ${line}`).join('\n')}`,
  )
}

const asText = (output: Json): string => {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return toStorableText(text)
}

const detailsOf = ({ details }: NodeFailure): string => {
  if (details === undefined) return ''
  return `\n${clip(asText(details), 2_000).text}`
}
