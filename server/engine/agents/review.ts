import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { toStorableText } from '#model/storable'
import { SECOND } from '#platform/clock'
import type { LanguageModel, Usage } from '#providers/llm/index'
import { ModelProblem } from '#providers/llm/problem'
import { buildReviewPrompt, POLICY_LIMIT, type ReviewingAgent, reviewSchema } from './review-prompt.ts'

// The vote of an agent on a gate. The agent does not see the votes of others, and receives the payload as data. This
// code, not the model, decides which answers count: anything but a clear decision with a reason is an abstention that
// says why.

export type ReviewRequest = {
  llm: LanguageModel
  agent: ReviewingAgent
  title: string
  payload: Json
  /** The rule of the gate in words. It is never cut. */
  policyText?: string | null
  signal?: AbortSignal
  timeoutMs?: number
}

export type AgentReview = {
  decision: 'approve' | 'reject' | 'abstain'
  rationale: string
  confidence: number | null
  /** Quotations from the payload. Quotations that are not in the payload were removed. */
  evidence: string[]
  usage: Usage | null
}

const TIMEOUT = 90 * SECOND
/** High because reasoning models count their reasoning as output. */
const ANSWER_TOKENS = 8_192
const MAX_RATIONALE_LENGTH = 4_000
const MAX_QUOTE_LENGTH = 500
const MAX_QUOTES = 10

/** Throws only if `signal` was aborted for a reason other than a timeout. The vote is then requested again later. */
export const reviewByAgent = async (request: ReviewRequest): Promise<AgentReview> => {
  const { llm, agent, signal } = request
  const absent = llm.available()
  if (absent !== null) return abstain(absent)
  const prompt = buildReviewPrompt(request)
  if (prompt === 'policy_too_long')
    return abstain(`The instructions are longer than ${POLICY_LIMIT} characters, so the payload was not reviewed.`)
  try {
    const { value, usage } = await llm.generateObject({
      system: prompt.system,
      messages: [{ role: 'user', text: prompt.text }],
      schema: reviewSchema,
      schemaName: 'review',
      repairs: 0,
      maxTokens: ANSWER_TOKENS,
      timeoutMs: request.timeoutMs ?? TIMEOUT,
      ...(agent.model && { model: agent.model }),
      ...(signal && { signal }),
    })
    return judge(value, prompt, usage)
  } catch (error) {
    if (error instanceof ModelProblem) return abstain(whyNot(error))
    if (signal?.aborted && !isTimeout(signal.reason)) throw error
    return abstain(signal?.aborted ? 'The model did not answer in time.' : 'The model gave no usable answer.')
  }
}

const judge = (
  value: Json,
  prompt: { payload: string; leftOut: number; marks: string[] },
  usage: Usage,
): AgentReview => {
  const answer: JsonObject = isObject(value) ? value : {}
  const { decision, confidence } = answer
  const rationale = plainText(answer.rationale, MAX_RATIONALE_LENGTH)
  const evidence = (Array.isArray(answer.evidence) ? answer.evidence : [])
    .map((quote) => plainText(quote, MAX_QUOTE_LENGTH))
    .filter((quote) => quote !== '' && flat(prompt.payload).includes(flat(quote)))
    .slice(0, MAX_QUOTES)
  const sure = typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null
  const without = (why: string) => ({ ...abstain(why), usage })
  if (decision !== 'approve' && decision !== 'reject' && decision !== 'abstain')
    return without('The model gave an unknown decision.')
  if (rationale === '') return without('The model gave no reason for its decision.')
  if (prompt.marks.some((mark) => rationale.includes(mark)))
    return without('The model repeated the frame of its instructions instead of judging.')
  if (decision === 'approve' && prompt.leftOut > 0)
    return without(
      `The payload is too long to be read whole (${prompt.leftOut} characters were left out), and what was not read cannot be approved. The model said: ${rationale}`,
    )
  return { decision, rationale, confidence: sure, evidence, usage }
}

const abstain = (rationale: string): AgentReview => ({
  decision: 'abstain',
  rationale,
  confidence: null,
  evidence: [],
  usage: null,
})

const whyNot = ({ code, message }: ModelProblem): string => {
  if (code === 'model_refused') return 'The model refused to judge this.'
  if (code === 'model_timeout') return 'The model did not answer in time.'
  if (code === 'model_output_invalid') return `The model gave no usable answer: ${message}.`
  return `The model could not be asked: ${message}.`
}

const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'

const plainText = (value: Json | undefined, longest: number): string =>
  typeof value === 'string' ? toStorableText(value, longest).trim() : ''

/** Removes differences in white space and quotes between a quotation and its source. */
const flat = (text: string): string => text.replace(/[\s"\\]+/g, ' ').trim()
