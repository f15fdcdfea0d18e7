import type { Usage } from './index.ts'

// The problems that can occur with a language model. The provider's own text is not passed on: it may contain the key,
// and it quotes the tenant's text.

export const modelProblemCodes = [
  'provider_not_configured',
  'provider_unavailable', // unreachable, malformed response, 5xx
  'provider_busy', // rate limited or overloaded
  'provider_refused', // the key, the model name or the request was refused: the same request fails again
  'model_timeout',
  'model_refused', // the model, or a filter of its provider, declined to answer
  'model_output_invalid', // empty, truncated, or does not match the schema
  'tool_choice_ignored', // the model called a tool although tool calls were not allowed
  'model_name_invalid',
  'quota_exceeded', // the workspace has used its tokens
  'budget_exceeded', // the call could exceed a budget of the workspace
  'model_not_allowed', // the operator does not pay for this model
] as const

export type ModelProblemCode = (typeof modelProblemCodes)[number]

const MAY_WORK_LATER: ReadonlySet<ModelProblemCode> = new Set([
  'provider_unavailable',
  'provider_busy',
  'model_timeout',
  'model_output_invalid',
])

export class ModelProblem extends Error {
  readonly code: ModelProblemCode
  readonly retryAfterMs: number | undefined
  /** The usage of a response that could not be used. */
  readonly usage: Usage | undefined

  constructor(code: ModelProblemCode, message: string, more: { retryAfterMs?: number; usage?: Usage } = {}) {
    super(message)
    this.name = 'ModelProblem'
    this.code = code
    this.retryAfterMs = more.retryAfterMs
    this.usage = more.usage
  }

  get retryable(): boolean {
    return MAY_WORK_LATER.has(this.code)
  }
}
