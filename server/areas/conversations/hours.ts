import { offsetAt, plusDays, showDay, wallClock, weekdayOf } from '#providers/extraction/calendar'
import type { Phrases } from './languages/index.ts'

// The hours in which people answer. Times are local times in the time zone of the hours.

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Weekday = (typeof WEEKDAYS)[number]

/** `from` and `to` as `HH:MM`; `24:00` is the end of the day. */
type Span = { from: string; to: string }
export type Hours = {
  time_zone: string
  days: { [Day in Weekday]?: Span[] | undefined }
  /** Days on which no person answers, such as 2026-12-25. */
  closed_on?: string[] | undefined
}

/** The number of days to search for the next opening, since holidays may follow each other. */
const DAYS_AHEAD = 60
const MINUTE = 60_000

export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/**
 * `open` is true if people answer now. Otherwise `opens_at` is the next opening, or null if there is none within the
 * days that are searched.
 */
export function standingAt(hours: Hours, now: Date): { open: boolean; opens_at: Date | null } {
  const { day: today, minutes } = wallClock(hours.time_zone, now)
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = plusDays(today, ahead)
    if (hours.closed_on?.includes(showDay(day))) continue
    const spans = (hours.days[WEEKDAYS[weekdayOf(day)]!] ?? [])
      .map(({ from, to }) => ({ from: minutesOf(from), to: minutesOf(to) }))
      .sort((a, b) => a.from - b.from)
    for (const { from, to } of spans) {
      if (ahead === 0 && minutes >= to) continue
      if (ahead === 0 && minutes >= from) return { open: true, opens_at: null }
      const wall = Date.parse(`${showDay(day)}T00:00:00Z`) + from * MINUTE
      return { open: false, opens_at: new Date(wall - offsetAt(hours.time_zone, day, from) * MINUTE) }
    }
  }
  return { open: false, opens_at: null }
}

const formatIn = (locale: string, timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat(locale, {
    timeZone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at)

/**
 * Returns what a person outside is told while no colleague answers, in their own time zone if it is known. Null
 * within the hours.
 */
export function closedText(
  hours: Hours | null,
  now: Date,
  { say, timeZone }: { say: Phrases; timeZone?: string | undefined },
): string | null {
  if (hours === null) return null
  const { open, opens_at } = standingAt(hours, now)
  if (open) return null
  if (opens_at === null) return say.nobodyThere
  const zone = timeZone ?? hours.time_zone
  return `${say.nobodyThere} ${say.from(formatIn(say.locale, zone, opens_at), zone)}`
}
