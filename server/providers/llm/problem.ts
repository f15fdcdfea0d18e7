import type { Usage } from './index.ts'

// What can go wrong between the program and a language model. The provider's own words are not passed on: they may quote
// the key, and they quote the tenant.

export const modelProblemCodes = [
  'provider_not_configured',
  'provider_unavailable', // not reached, broken answer, 5xx
  'provider_busy', // rate limited or overloaded
  'provider_refused', // the key, the model name or the request was refused: the same request fails again
  'model_timeout',
  'model_refused', // the model, or a filter of its provider, declined to answer
  'model_output_invalid', // empty, cut off, or not what the schema asks for
  'tool_choice_ignored', // it called a tool where none could be called
  'model_name_invalid',
  'quota_exceeded', // the workspace has used its tokens
  'budget_exceeded', // a budget of the workspace could be passed
  'model_not_allowed', // the operator does not pay for it
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
  /** What the answer counted that could not be used. */
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
