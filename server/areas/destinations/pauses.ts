import { DAY, HOUR, MINUTE, SECOND } from '#platform/clock'

// How long a delivery that failed waits. Attempts are spread over three days, and no two destinations try in the same moment.

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

/** After this number of failures in a row the whole destination pauses: a receiver that is away is asked by a few deliveries, not by all. */
const FAILURES_TO_BLOCK = 5
const MAX_BLOCK_S = (10 * MINUTE) / SECOND

const jittered = (seconds: number, random: () => number): number => seconds * (1 + JITTER * random())

/** After the attempt with this number, from 1. */
export function pauseAfter(attempt: number, retryAfterS: number | null = null, random = Math.random): number {
  const usual = PAUSES_S[Math.min(attempt, PAUSES_S.length) - 1]!
  return jittered(Math.max(usual, retryAfterS ?? 0), random)
}

/** How long nothing is sent to the destination, by the number of failures in a row. */
export function blockAfter(failures: number, random = Math.random): number {
  if (failures < FAILURES_TO_BLOCK) return 0
  const step = Math.min(failures - FAILURES_TO_BLOCK, PAUSES_S.length - 1)
  return Math.min(jittered(PAUSES_S[step]!, random), MAX_BLOCK_S)
}
