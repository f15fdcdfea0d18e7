import { SECOND } from '#platform/clock'

// A worker that was declared dead although it is alive either could not reach the database or stood still: it was
// stopped, or an execution kept it busy. Only in the first case were its executions certainly not the cause.

const LOOK_EVERY = SECOND / 4
/** Shorter than the time after which other workers declare a worker dead. */
const STOOD_STILL = 2 * SECOND

export type Standstill = {
  /** Checks whether this process stood still since its last heartbeat. */
  happened(): boolean
  /** Call this after a heartbeat. Earlier standstills then no longer count. */
  forget(): void
  stop(): void
}

export const watchStandstill = (now: () => number = () => performance.now()): Standstill => {
  let lookedAt = now()
  let happened = false
  const look = (): void => {
    const at = now()
    happened ||= at - lookedAt >= STOOD_STILL
    lookedAt = at
  }
  const timer = setInterval(look, LOOK_EVERY)
  timer.unref()
  return {
    happened: () => {
      look()
      return happened
    },
    forget: () => {
      happened = false
    },
    stop: () => clearInterval(timer),
  }
}
