import { Cron } from 'croner'
import { SECOND } from '#platform/clock'

// The times of a schedule: a cron pattern in a time zone, an interval, or one moment.

export type Plan = {
  cron: string | null
  every_s: number | null
  at: Date | null
  timezone: string
  /** From where intervals count. */
  anchor: Date
}

/**
 * The next time of a pattern after `after`, or null where there is none. In the hour that daylight saving skips, it fires at the
 * first minute that exists; in the hour that comes twice, once.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  return new Cron(cron, { timezone, mode: '5-part' }).nextRun(after)
}

/** The first time after `after`; null where there is none. */
export function nextTime(plan: Plan, after: Date): Date | null {
  if (plan.cron !== null) return nextRun(plan.cron, plan.timezone, after)
  if (plan.every_s !== null) {
    const every = plan.every_s * SECOND
    const turns = Math.floor((after.getTime() - plan.anchor.getTime()) / every) + 1
    return new Date(plan.anchor.getTime() + Math.max(turns, 1) * every)
  }
  return plan.at !== null && plan.at > after ? plan.at : null
}

/** At most this number of times in a row, each after the one before. */
export function nextTimes(plan: Plan, after: Date, most: number): Date[] {
  const times: Date[] = []
  for (let last = nextTime(plan, after); last !== null && times.length < most; last = nextTime(plan, last))
    times.push(last)
  return times
}

/** Times from `from` on and before `to`; at most `most` and one. */
export function timesBetween(plan: Plan, from: Date, to: Date, most: number): Date[] {
  const times: Date[] = []
  for (let at = nextTime(plan, new Date(from.getTime() - 1)); at !== null && at < to; at = nextTime(plan, at)) {
    times.push(at)
    if (times.length > most) break
  }
  return times
}

/** How far back missed times are made up for. */
export const MAX_CATCH_UP_MS = 7 * 24 * 3600 * SECOND
/** A time that is looked at no later than this was not missed. */
const ON_TIME_MS = 60 * SECOND

/**
 * What to do at `now` with a schedule that was due at `due`: the time to run for (null: none of those that passed), and from where
 * the next time counts.
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

/** The newest time that has passed; `due` is one. Found backwards in growing steps: years of minutes can have passed. */
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
