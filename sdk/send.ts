import { ConnectionFailed, HeddleProblem, problemOf, TimedOut } from './problems.ts'

// Sends one request, with a timeout for each attempt, and retries if repeating the request is safe.

export type PreparedRequest = {
  url: string
  init: RequestInit
  /** False if a repeated request could take effect twice. */
  repeatable: boolean
  retries: number
  timeoutMs: number
  signal: AbortSignal | undefined
  fetch: typeof fetch
}

const PASSING = new Set([429, 500, 502, 503, 504])
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 10_000

export const delay = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Returns the delay before an attempt. Half of it is random, so that many clients do not retry at the same moment. */
const delayBefore = (attempt: number, retryAfterS: number | null): number => {
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
  return (retryAfterS ?? 0) * 1000 + backoff * (0.5 + Math.random() / 2)
}

/** The timeout applies until the headers arrive: a large body may take longer. The signal also stops the body. */
async function attempt({ url, init, timeoutMs, signal, fetch }: PreparedRequest): Promise<Response> {
  const late = new AbortController()
  const ending = signal ? AbortSignal.any([signal, late.signal]) : late.signal
  ending.throwIfAborted()
  const timer = timeoutMs > 0 ? setTimeout(() => late.abort(new TimedOut(timeoutMs)), timeoutMs) : undefined
  try {
    return await fetch(url, { ...init, signal: ending })
  } catch (error) {
    ending.throwIfAborted()
    throw new ConnectionFailed(error)
  } finally {
    clearTimeout(timer)
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof HeddleProblem
    ? PASSING.has(error.status)
    : error instanceof ConnectionFailed || error instanceof TimedOut

/** Resolves with a 2xx or 304 response. Throws the errors of problems.ts, or the reason of the caller's signal. */
export async function send(sending: PreparedRequest): Promise<Response> {
  const attempts = sending.repeatable ? sending.retries + 1 : 1
  for (let number = 1; ; number++) {
    try {
      const response = await attempt(sending)
      if (response.ok || response.status === 304) return response
      throw await problemOf(response)
    } catch (error) {
      if (number >= attempts || !isPassing(error)) throw error
      await delay(delayBefore(number, error instanceof HeddleProblem ? error.retryAfterS : null), sending.signal)
    }
  }
}
