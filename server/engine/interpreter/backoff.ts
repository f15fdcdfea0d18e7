import type { RetryPolicy } from '#model/definition'
import { DAY, SECOND } from '#platform/clock'

/** Computes FNV-1a: the same text gives the same fraction in [0, 1) on every machine. */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  }
  return hash / 2 ** 32
}

const DEFAULT_JITTER = 0.25

/**
 * Returns an exponential pause in milliseconds, with jitter, so that executions that failed together do not retry
 * together.
 */
export const backoff = (policy: RetryPolicy, attempt: number, seed: string): number => {
  const grown = policy.backoff_s * SECOND * (policy.factor ?? 2) ** (attempt - 1)
  const base = Math.min(grown, (policy.max_backoff_s ?? DAY / SECOND) * SECOND)
  const jitter = policy.jitter ?? DEFAULT_JITTER
  return Math.min(DAY, Math.round(base * (1 - jitter + 2 * jitter * fraction(`${seed}:${attempt}`))))
}

/** The properties of a failed attempt that decide whether there is another attempt. */
export type AttemptEnd = {
  code: string
  /** False if the failure is permanent: the same attempt would fail in the same way. */
  retryable: boolean
  /** The attempt is known to have had no effect. */
  nothingDone?: boolean | undefined
  /** The number of seconds that the target asked to wait. */
  retryAfterS?: number | undefined
  /**
   * The failure is an answer or a decision rather than a failed attempt, such as a rejected approval or the condition
   * of an edge.
   */
  isFinal?: boolean | undefined
  /**
   * A child execution called its failure permanent. The node is still retried, and an execution that fails with this
   * error says that it is permanent.
   */
  isPermanent?: boolean | undefined
}

/**
 * Returns the milliseconds until the next attempt, or undefined if there is none. If `on` is set, it alone decides
 * which codes are retried. A node with the effect `at_most_once` is repeated only if the attempt did nothing,
 * regardless of the policy.
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
