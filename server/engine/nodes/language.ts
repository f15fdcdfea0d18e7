import type { KindLookup } from '#engine/agents/tools'
import type { NodeKind } from '#engine/node'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { LanguageModel } from '#providers/llm/index'
import { makeAgentReview } from './agent-review.ts'
import { makeAgentRun } from './agent-run.ts'
import { makeLlmExtract } from './llm-extract.ts'
import { makeLlmGenerate } from './llm-generate.ts'
import { makeMcpCall } from './mcp-call.ts'

/** The kinds that speak with a language model, and the tool servers agents may use. `kindOf` looks into the whole table. */
export const makeLanguageNodes = (deps: {
  llm: LanguageModel
  outgoing: Pick<Outgoing, 'fetch'>
  kindOf: KindLookup
}): NodeKind[] => [
  makeLlmGenerate(deps),
  makeLlmExtract(deps),
  makeAgentRun(deps),
  makeAgentReview(deps),
  makeMcpCall(deps),
]
