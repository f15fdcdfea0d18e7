import { APICallError, ToolChoiceViolationError } from 'ai'
import { SECOND } from '#platform/clock'
import { ModelProblem } from './problem.ts'

const MAX_WAIT = 20 * SECOND

/**
 * Converts an error of the library to a ModelProblem. `told` is the only part of the provider's response that is passed
 * on: a short code, never a sentence.
 */
export const modelProblemOf = (error: unknown, secret: string | null): ModelProblem => {
  if (error instanceof ModelProblem) return error
  if (ToolChoiceViolationError.isInstance(error))
    return new ModelProblem('tool_choice_ignored', 'the language model called a tool although it had none')
  const call = apiCallIn(error)
  if (call === undefined)
    return new ModelProblem('provider_unavailable', 'the answer of the language model could not be read')
  const status = call.statusCode
  if (status === undefined) return new ModelProblem('provider_unavailable', 'the language model cannot be reached')
  const vendorReason = vendorReasonOf(call, secret)
  if (status === 429 || status === 529) {
    const retryAfterMs = retryAfterOf(call)
    if (vendorReason === 'insufficient_quota')
      return new ModelProblem('provider_refused', 'the account at the language model provider has no credit left')
    return new ModelProblem(
      'provider_busy',
      'the language model provider refuses more requests at the moment; try again later',
      retryAfterMs === undefined ? {} : { retryAfterMs },
    )
  }
  if (status === 401 || status === 403)
    return new ModelProblem('provider_refused', 'the language model provider refused the configured key')
  if (status === 408 || status === 409 || status >= 500)
    return new ModelProblem('provider_unavailable', `the language model provider answered with status ${status}`)
  if (status < 400)
    return new ModelProblem('provider_unavailable', 'the answer of the language model could not be read')
  const because = vendorReason === undefined ? '' : ` (${vendorReason})`
  return new ModelProblem(
    'provider_refused',
    `the language model provider refused the request with status ${status}${because}`,
  )
}

const apiCallIn = (error: unknown): APICallError | undefined => {
  let current = error
  for (let depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if (APICallError.isInstance(current)) return current
    current = current.cause
  }
  return undefined
}

const vendorReasonOf = (call: APICallError, secret: string | null): string | undefined => {
  const body = call.data as { error?: { code?: unknown; type?: unknown; status?: unknown } } | undefined
  const words = [body?.error?.code, body?.error?.type, body?.error?.status]
  return words.find(
    (word): word is string =>
      typeof word === 'string' && /^[A-Za-z][A-Za-z_]{2,63}$/.test(word) && (secret === null || !secret.includes(word)),
  )
}

const retryAfterOf = (call: APICallError): number | undefined => {
  const { 'retry-after-ms': ms, 'retry-after': s } = call.responseHeaders ?? {}
  const wanted = ms !== undefined ? Number(ms) : Number(s ?? Number.NaN) * SECOND
  return Number.isFinite(wanted) && wanted >= 0 ? Math.min(wanted, MAX_WAIT) : undefined
}
