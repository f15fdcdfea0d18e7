import { SECOND } from '../clock.ts'

// Computes how long a refused client must wait. The time grows with the number of refusals, so that refusing never
// becomes most of the work.

const REFUSALS_PER_SECOND = 500
const MAX_RETRY_AFTER_S = 30

export type RetryAfter = {
  /** Counts a refusal, and returns the number of seconds to wait. */
  retryAfterS(): number
}

export function makeRetryAfter(now: () => number = () => performance.now()): RetryAfter {
  let second = 0
  let refused = 0
  let before = 0
  const secondsFor = (count: number): number => Math.min(MAX_RETRY_AFTER_S, Math.ceil(count / REFUSALS_PER_SECOND))
  return {
    retryAfterS() {
      const current = Math.floor(now() / SECOND)
      if (current !== second) {
        before = current === second + 1 ? secondsFor(refused) : 0
        second = current
        refused = 0
      }
      refused += 1
      return Math.max(before, secondsFor(refused))
    },
  }
}
