import { Buffer } from 'node:buffer'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { asOutgoingFailure, type OutgoingCode } from '#platform/outgoing/failure'
import { ProviderProblem } from './problem.ts'

// Sends one request to an OpenAI-compatible audio endpoint that the operator chose. The text of its errors is not
// passed on to callers, because it may contain the key.

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

const DEFAULT_TIMEOUT = 60_000

const unavailable = (message: string) => new ProviderProblem('provider_unavailable', message)

const refusal = (status: number): ProviderProblem => {
  if (status === 429)
    return new ProviderProblem(
      'provider_busy',
      'The speech provider refuses more requests at the moment; try again in a minute.',
    )
  if (status === 401 || status === 403) return unavailable('The speech provider refused the configured key.')
  return unavailable(`The speech provider answered with status ${status}.`)
}

export const callOpenAi = async (endpoint: OpenAiEndpoint, call: OpenAiCall): Promise<Buffer> => {
  const send = makeBoundedFetch({ maxBytes: call.largestAnswer, timeoutMs: endpoint.timeout ?? DEFAULT_TIMEOUT })
  try {
    // The key is sent only to the configured host: redirects are not followed.
    const response = await send(`${endpoint.baseUrl.replace(/\/+$/, '')}${call.path}`, {
      method: 'POST',
      headers: { ...call.headers, ...(endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {}) },
      body: call.body,
      signal: call.signal ?? null,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw refusal(response.status)
    }
    return Buffer.from(await response.arrayBuffer())
  } catch (cause) {
    if (cause instanceof ProviderProblem) throw cause
    call.signal?.throwIfAborted()
    throw unavailable(said[asOutgoingFailure(cause).code] ?? 'The speech provider cannot be reached.')
  }
}

const said: Partial<Record<OutgoingCode, string>> = {
  timeout: 'The speech provider did not answer in time.',
  response_too_large: 'The response of the speech provider is too large.',
}
