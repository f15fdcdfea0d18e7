import type { RetryPolicy } from '#model/definition'
import { DAY, SECOND } from '#platform/clock'

/** FNV-1a: the same text gives the same fraction in [0, 1) on every machine. */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  }
  return hash / 2 ** 32
}

const DEFAULT_JITTER = 0.25

/** Exponential, and spread so that executions that failed together do not come back together. */
export const backoff = (policy: RetryPolicy, attempt: number, seed: string): number => {
  const grown = policy.backoff_s * SECOND * (policy.factor ?? 2) ** (attempt - 1)
  const base = Math.min(grown, (policy.max_backoff_s ?? DAY / SECOND) * SECOND)
  const jitter = policy.jitter ?? DEFAULT_JITTER
  return Math.min(DAY, Math.round(base * (1 - jitter + 2 * jitter * fraction(`${seed}:${attempt}`))))
}

/** How an attempt failed, as far as it decides whether there is another. */
export type AttemptEnd = {
  code: string
  /** False where the node calls it permanent: the same attempt would fail in the same way. */
  retryable: boolean
  /** It is known that the attempt had no effect. */
  nothingDone?: boolean | undefined
  /** What the target asked to wait, in seconds. */
  retryAfterS?: number | undefined
  /** It is an answer or a decision and no failed attempt: a rejected approval, the condition of an edge. */
  isFinal?: boolean | undefined
  /** What ran inside it called its failure permanent. The node is tried again all the same, and the run that fails with it says so. */
  isPermanent?: boolean | undefined
}

/**
 * Milliseconds until the next attempt; undefined where there is none. `on` decides alone where it is given. What may happen at
 * most once is repeated only where nothing was done, whatever the policy says.
 */
export const nextAttemptIn = (
  policy: RetryPolicy | undefined,
  attempt: number,
  ending: AttemptEnd,
  { isAtMostOnce, seed }: { isAtMostOnce: boolean; seed: string },
): number | undefined => {
  if (!policy || attempt >= policy.max_attempts || ending.isFinal) return undefined
  if (isAtMostOnce && !ending.nothingDone) return undefined
  if (!(policy.on ? policy.on.includes(ending.code) : ending.retryable)) return undefined
  return Math.max(backoff(policy, attempt, seed), Math.min(DAY, (ending.retryAfterS ?? 0) * SECOND))
}
