import { DAY, HOUR, MINUTE, SECOND } from '#platform/clock'

// The pause after a failed delivery. Attempts are spread over three days, and jitter keeps destinations from retrying
// at the same moment.

const PAUSES_S = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
].map((ms) => ms / SECOND)
const JITTER = 0.2
export const GIVE_UP_AFTER_S = (3 * DAY) / SECOND

/**
 * The number of failures in a row after which the whole destination pauses, so that only a few deliveries try an
 * unavailable receiver.
 */
const FAILURES_TO_BLOCK = 5
const MAX_BLOCK_S = (10 * MINUTE) / SECOND

const jittered = (seconds: number, random: () => number): number => seconds * (1 + JITTER * random())

/** Returns the pause in seconds after this attempt, counted from 1. */
export function pauseAfter(attempt: number, retryAfterS: number | null = null, random = Math.random): number {
  const usual = PAUSES_S[Math.min(attempt, PAUSES_S.length) - 1]!
  return jittered(Math.max(usual, retryAfterS ?? 0), random)
}

/** Returns for how many seconds nothing is sent to the destination, by the number of failures in a row. */
export function blockAfter(failures: number, random = Math.random): number {
  if (failures < FAILURES_TO_BLOCK) return 0
  const step = Math.min(failures - FAILURES_TO_BLOCK, PAUSES_S.length - 1)
  return Math.min(jittered(PAUSES_S[step]!, random), MAX_BLOCK_S)
}
