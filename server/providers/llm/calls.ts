import { SECOND } from '#platform/clock'
import { modelProblemOf } from './failures.ts'
import { ModelProblem } from './problem.ts'

// Makes one call to a provider, with one timeout over all attempts. Only failures that may be temporary are retried.

export type CallLimits = { timeoutMs: number; tries: number; backoffMs: number }

export const DEFAULT_LIMITS: CallLimits = { timeoutMs: 120 * SECOND, tries: 3, backoffMs: 500 }

const WORTH_ANOTHER_TRY: ReadonlySet<string> = new Set(['provider_unavailable', 'provider_busy'])

export const callModel = async <T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  limits: CallLimits,
  { signal, secret }: { signal?: AbortSignal | undefined; secret: string | null },
): Promise<T> => {
  const late = AbortSignal.timeout(limits.timeoutMs)
  const both = signal ? AbortSignal.any([signal, late]) : late
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(both)
    } catch (error) {
      signal?.throwIfAborted()
      if (late.aborted) throw tooLate(limits)
      const problem = modelProblemOf(error, secret)
      if (tries >= limits.tries || !WORTH_ANOTHER_TRY.has(problem.code)) throw problem
      await pause(problem.retryAfterMs ?? limits.backoffMs * 2 ** (tries - 1) * (0.75 + Math.random() / 2), both)
      signal?.throwIfAborted()
      if (late.aborted) throw tooLate(limits)
    }
  }
}

const tooLate = (limits: CallLimits): ModelProblem =>
  new ModelProblem('model_timeout', `the language model did not answer within ${limits.timeoutMs / SECOND} s`)

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
