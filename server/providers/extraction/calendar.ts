// Calendar days without a time, and the wall clock of a time zone. Days never roll over: February 31 is not a day.

export type Day = { year: number; month: number; day: number }

const MS = 86_400_000

const stamp = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day)

const fromStamp = (ms: number): Day => {
  const date = new Date(ms)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

export const isDay = (day: Day): boolean => {
  const back = fromStamp(stamp(day))
  return (
    day.year >= 1000 && day.year <= 9999 && back.year === day.year && back.month === day.month && back.day === day.day
  )
}

export const plusDays = (day: Day, count: number): Day => fromStamp(stamp(day) + count * MS)

/** Adds months to a day. A 31st plus one month is the last day of a shorter next month. */
export const plusMonths = (day: Day, count: number): Day => {
  const months = day.year * 12 + day.month - 1 + count
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1]
  return { year, month, day: Math.min(day.day, lastOfMonth(year, month)) }
}

export const lastOfMonth = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** Returns the weekday, where Monday is 0. */
export const weekdayOf = (day: Day): number => (new Date(stamp(day)).getUTCDay() + 6) % 7

export const isBefore = (a: Day, b: Day): boolean => stamp(a) < stamp(b)

const two = (value: number) => String(value).padStart(2, '0')

export const showDay = ({ year, month, day }: Day): string => `${year}-${two(month)}-${two(day)}`

export const showTime = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`

// Creating a formatter takes longer than reading a whole message, so formatters are cached.
const clocks = new Map<string, Intl.DateTimeFormat>()

const clockOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = clocks.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  if (clocks.size >= 500) clocks.clear() // the same zone has many upper- and lower-case spellings
  clocks.set(timeZone, made)
  return made
}

const partsIn = (timeZone: string, at: Date) => {
  const parts = Object.fromEntries(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  return parts as { year: number; month: number; day: number; hour: number; minute: number; second: number }
}

export const todayIn = (timeZone: string, now: Date): Day => {
  const { year, month, day } = partsIn(timeZone, now)
  return { year, month, day }
}

const offsetMinutes = (timeZone: string, at: Date): number => {
  const { year, month, day, hour, minute, second } = partsIn(timeZone, at)
  return Math.round(
    (Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at.getTime() / 1000) * 1000) / 60_000,
  )
}

export const showOffset = (minutes: number): string =>
  minutes === 0
    ? 'Z'
    : `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`

/** Returns the UTC offset at a wall-clock time. In the gap of a clock change, returns the offset before the change. */
export const offsetAt = (timeZone: string, day: Day, minutes: number): number => {
  const wall = stamp(day) + minutes * 60_000
  const guess = offsetMinutes(timeZone, new Date(wall))
  return offsetMinutes(timeZone, new Date(wall - guess * 60_000))
}

export const showInstant = (timeZone: string, day: Day, minutes: number): string =>
  `${showDay(day)}T${showTime(minutes)}:00${showOffset(offsetAt(timeZone, day, minutes))}`

/** Returns the wall-clock time in a time zone. */
export const wallClock = (timeZone: string, at: Date): { day: Day; minutes: number } => {
  const { year, month, day, hour, minute } = partsIn(timeZone, at)
  return { day: { year, month, day }, minutes: hour * 60 + minute }
}

/** Checks whether 3/12 means March 12 in this time zone. In all others it means December 3. */
export const monthFirst = (timeZone: string): boolean =>
  /^(?:US\/|America\/(?:New_York|Chicago|Denver|Los_Angeles|Phoenix|Anchorage|Detroit|Boise|Juneau|Adak|Indiana|Kentucky|North_Dakota)|Pacific\/Honolulu)/.test(
    timeZone,
  )
