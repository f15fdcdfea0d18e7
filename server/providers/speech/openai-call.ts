import { Buffer } from 'node:buffer'
import { ProviderProblem } from './problem.ts'

// One request to an OpenAI-compatible audio endpoint of the operator's choosing. Its words are not passed on to callers:
// they may quote the key.

export type OpenAiEndpoint = {
  /** Includes `/v1`. */
  baseUrl: string
  apiKey?: string
  timeout?: number
}

export type OpenAiCall = {
  path: '/audio/speech' | '/audio/transcriptions'
  body: string | FormData
  headers?: Record<string, string>
  signal?: AbortSignal
  largestAnswer: number
}

const USUAL_TIMEOUT = 60_000

const unavailable = (message: string) => new ProviderProblem('provider_unavailable', message)

const refusal = (status: number): ProviderProblem => {
  if (status === 429)
    return new ProviderProblem('provider_busy', 'The speech provider asks for fewer requests; try again in a minute.')
  if (status === 401 || status === 403) return unavailable('The speech provider refused the configured key.')
  return unavailable(`The speech provider answered with status ${status}.`)
}

export const callOpenAi = async (endpoint: OpenAiEndpoint, call: OpenAiCall): Promise<Buffer> => {
  const timeout = AbortSignal.timeout(endpoint.timeout ?? USUAL_TIMEOUT)
  const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout
  try {
    const response = await fetch(`${endpoint.baseUrl.replace(/\/+$/, '')}${call.path}`, {
      method: 'POST',
      headers: { ...call.headers, ...(endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {}) },
      body: call.body,
      redirect: 'error', // a key goes to the configured host alone
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw refusal(response.status)
    }
    return await readAtMost(response, call.largestAnswer)
  } catch (cause) {
    if (cause instanceof ProviderProblem) throw cause
    call.signal?.throwIfAborted()
    throw unavailable(
      timeout.aborted ? 'The speech provider did not answer in time.' : 'The speech provider cannot be reached.',
    )
  }
}

const readAtMost = async (response: Response, limit: number): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    length += part.length
    if (length > limit) throw unavailable('The speech provider answered with more than was asked for.')
  }
  return Buffer.concat(parts)
}
