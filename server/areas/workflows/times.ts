import { Cron } from 'croner'
import { SECOND } from '#platform/clock'

// The times of a schedule: a cron pattern in a time zone, an interval, or one moment.

export type Plan = {
  cron: string | null
  every_s: number | null
  at: Date | null
  timezone: string
  /** The time from which intervals count. */
  anchor: Date
}

/**
 * Returns the next time of a pattern after `after`, or null if there is none. In the hour that daylight saving skips,
 * the pattern fires at the first minute that exists; in the hour that is repeated, once.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  return new Cron(cron, { timezone, mode: '5-part' }).nextRun(after)
}

/** Returns the first time after `after`, or null if there is none. */
export function nextTime(plan: Plan, after: Date): Date | null {
  if (plan.cron !== null) return nextRun(plan.cron, plan.timezone, after)
  if (plan.every_s !== null) {
    const every = plan.every_s * SECOND
    const turns = Math.floor((after.getTime() - plan.anchor.getTime()) / every) + 1
    return new Date(plan.anchor.getTime() + Math.max(turns, 1) * every)
  }
  return plan.at !== null && plan.at > after ? plan.at : null
}

/** Returns the next times, at most `most`. */
export function nextTimes(plan: Plan, after: Date, most: number): Date[] {
  const times: Date[] = []
  for (let last = nextTime(plan, after); last !== null && times.length < most; last = nextTime(plan, last))
    times.push(last)
  return times
}

/** Returns times from `from` (inclusive) to `to` (exclusive), at most `most` + 1. */
export function timesBetween(plan: Plan, from: Date, to: Date, most: number): Date[] {
  const times: Date[] = []
  for (let at = nextTime(plan, new Date(from.getTime() - 1)); at !== null && at < to; at = nextTime(plan, at)) {
    times.push(at)
    if (times.length > most) break
  }
  return times
}

/** How far back missed times are run. */
export const MAX_CATCH_UP_MS = 7 * 24 * 3600 * SECOND
/** A time that is handled within this duration was not missed. */
const ON_TIME_MS = 60 * SECOND

/**
 * Decides at `now` what to do with a schedule that was due at `due`: the time to run for (null if none of the past
 * times runs), and the time from which the next time counts.
 */
export function catchUp(
  plan: Plan,
  catch_up: 'none' | 'last' | 'all',
  { due, now }: { due: Date; now: Date },
): { runFor: Date | null; after: Date } {
  if (catch_up === 'all') {
    const oldest = new Date(now.getTime() - MAX_CATCH_UP_MS)
    if (due >= oldest) return { runFor: due, after: due }
    const first = nextTime(plan, oldest)
    return first !== null && first <= now ? { runFor: first, after: first } : { runFor: null, after: now }
  }
  const last = lastTime(plan, due, now)
  const isMissed = now.getTime() - last.getTime() > ON_TIME_MS
  return { runFor: catch_up === 'none' && isMissed ? null : last, after: now }
}

/**
 * Returns the newest past time; `due` is one. Searches backwards in growing steps, since years of minutes may have
 * passed.
 */
function lastTime(plan: Plan, due: Date, now: Date): Date {
  if (plan.cron === null && plan.every_s === null) return due
  for (let back = 60 * SECOND; ; back *= 8) {
    const from = new Date(Math.max(due.getTime(), now.getTime() - back))
    let found = from <= due ? due : nextTime(plan, from)
    if (found === null || found > now) {
      if (from <= due) return due
      continue
    }
    for (let next = nextTime(plan, found); next !== null && next <= now; next = nextTime(plan, next)) found = next
    return found
  }
}
