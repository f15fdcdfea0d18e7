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

/** Clocks are changed by at most two hours. */
const LONGEST_CHANGE = 3 * 3600 * SECOND

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Checks whether the clocks of a zone differ between two moments. */
function differ(timezone: string, one: number, other: number): boolean {
  let clock = clocks.get(timezone)
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset', hour: 'numeric' })
    clocks.set(timezone, clock)
  }
  const offset = (time: number): string | undefined =>
    clock.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
  return offset(one) !== offset(other)
}

/** Returns the numbers of a field such as `0,30` or `8-18/2`. Undefined if it is not a list of numbers and ranges. */
function numbersOf(field: string): number[] | undefined {
  const numbers: number[] = []
  for (const part of field.split(',')) {
    const [, from, to, step] = /^(\d+)(?:-(\d+)(?:\/(\d+))?)?$/.exec(part) ?? []
    if (from === undefined) return undefined
    for (let n = Number(from); n <= Number(to ?? from); n += Number(step ?? 1)) numbers.push(n)
  }
  return numbers
}

/** The most times of day for which a pattern is split, because the next of each is computed. */
const MAX_TIMES = 24

/** Splits a pattern whose hours and minutes are numbers into one pattern for each time of the day. */
function timesOfDay(cron: string): string[] {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/)
  const minutes = numbersOf(minute)
  const hours = numbersOf(hour)
  if (minutes === undefined || hours === undefined || minutes.length * hours.length > MAX_TIMES) return [cron]
  return hours.flatMap((h) => minutes.map((m) => [m, h, ...days].join(' ')))
}

/**
 * Returns the next time of a pattern after `after`, or null if there is none. A time in the hour that daylight saving
 * skips fires at the first minute that exists; a time in the hour that is repeated fires once. The library does this
 * only for patterns with a single time, so others are split where the clocks have changed. A pattern with `*` in its
 * hours or minutes, or with many times, fires whenever the clock shows a matching time.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  const nextOf = (pattern: string): Date | null => new Cron(pattern, { timezone, mode: '5-part' }).nextRun(after)
  const next = nextOf(cron)
  const from = Math.min(after.getTime(), (next?.getTime() ?? 0) - LONGEST_CHANGE)
  if (next === null || !differ(timezone, from, next.getTime())) return next
  const found = timesOfDay(cron)
    .map(nextOf)
    .filter((time) => time !== null)
  return new Date(Math.min(...found.map((time) => time.getTime())))
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
