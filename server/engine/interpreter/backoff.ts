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

/** Exponential, spread by a quarter either way so that executions that failed together do not come back together. */
export const backoff = (policy: RetryPolicy, attempt: number, seed: string): number => {
  const base = policy.backoff_s * SECOND * (policy.factor ?? 2) ** (attempt - 1)
  return Math.min(DAY, Math.round(base * (0.75 + 0.5 * fraction(`${seed}:${attempt}`))))
}
