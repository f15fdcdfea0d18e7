import type { NodeKind } from '#engine/node'
import { makeAgentReview } from './agent-review.ts'
import { type AgentRunDeps, makeAgentRun } from './agent-run.ts'
import { makeLlmExtract } from './llm-extract.ts'
import { makeLlmGenerate } from './llm-generate.ts'
import { makeMcpCall } from './mcp-call.ts'

/** Creates the kinds that use a language model, and `mcp.call`. `kindOf` searches all node kinds. */
export const makeLanguageNodes = (deps: AgentRunDeps): NodeKind[] => [
  makeLlmGenerate(deps),
  makeLlmExtract(deps),
  makeAgentRun(deps),
  makeAgentReview(deps),
  makeMcpCall(deps),
]
