import { SECOND } from '#platform/clock'

// A worker that was declared dead although it is alive either could not reach the database or stood still: it was
// stopped, or an execution kept it busy. Only in the first case were its executions certainly not the cause.

const CHECK_EVERY = SECOND / 4
/** Shorter than the time after which other workers declare a worker dead. */
const STALLED_AFTER = 2 * SECOND

export type StallWatch = {
  /** Checks whether this process stood still since its last heartbeat. */
  hasStalled(): boolean
  /** Call this after a heartbeat. Earlier stalls then no longer count. */
  reset(): void
  stop(): void
}

export const watchStalls = (now: () => number = () => performance.now()): StallWatch => {
  let lookedAt = now()
  let happened = false
  const look = (): void => {
    const at = now()
    happened ||= at - lookedAt >= STALLED_AFTER
    lookedAt = at
  }
  const timer = setInterval(look, CHECK_EVERY)
  timer.unref()
  return {
    hasStalled: () => {
      look()
      return happened
    },
    reset: () => {
      happened = false
    },
    stop: () => clearInterval(timer),
  }
}
