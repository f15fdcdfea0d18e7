export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/**
 * Passed as an argument where time matters, so that a test can change it. Timers of executions use the database's clock
 * instead.
 */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }
