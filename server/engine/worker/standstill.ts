import { SECOND } from '#platform/clock'

// A worker that was declared dead and lives was either kept from the database or stood still: stopped, or kept busy by an
// execution. Only in the first case did its executions have nothing to do with it.

const LOOK_EVERY = SECOND / 4
/** Shorter than the silence after which others declare a worker dead. */
const STOOD_STILL = 2 * SECOND

export type Standstill = {
  /** Whether this process stood still since it last beat. */
  happened(): boolean
  /** It has beaten: what came before does not count any more. */
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
