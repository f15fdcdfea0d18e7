// Times in zones: reading their parts, formatting and parsing them by a pattern, and calendar arithmetic. Zones are the
// IANA names that the runtime knows, and fixed offsets such as "+02:00".

import { type CelValue, type Duration, failure, type Run, typeOf } from './cel-runtime.ts'
import { makeLru } from './lru.ts'

const HOUR = 3_600_000
const DAY = 86_400_000
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z, the range of RFC 3339. */
const FIRST = -62_135_596_800_000
const LAST = 253_402_300_799_999

export function validDate(ms: number): Date {
  if (!(ms >= FIRST && ms <= LAST)) throw failure('the time is out of range')
  return new Date(ms)
}

const OFFSET = /^([+-]?)(\d\d):(\d\d)$/
const formatters = makeLru<Intl.DateTimeFormat>(100)

/** The cost of one lookup of a zone's rules: about 3 µs. */
const ZONE_STEPS = 100

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known) return known
  try {
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(zone, made)
    return made
  } catch {
    throw failure(`unknown time zone "${zone.slice(0, 64)}"; use a name such as Europe/Berlin, or +02:00`)
  }
}

/** Returns how many milliseconds clocks in the zone are ahead of UTC at this time. */
function offsetOf(run: Run, zone: string, ms: number): number {
  if (zone === 'UTC' || zone === 'Z') return 0
  const fixed = OFFSET.exec(zone)
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * HOUR + Number(fixed[3]) * 60_000)
  run.spend(ZONE_STEPS)
  if (zone.length > 64 || !/^[A-Za-z]/.test(zone)) throw failure(`unknown time zone "${zone.slice(0, 64)}"`)
  const part: Record<string, string> = {}
  for (const { type, value } of formatterOf(zone).formatToParts(ms)) part[type] = value
  const year = part.era === 'BC' ? 1 - Number(part.year) : Number(part.year)
  const local = new Date(0)
  local.setUTCFullYear(year, Number(part.month) - 1, Number(part.day))
  local.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second))
  return local.getTime() - Math.floor(ms / 1000) * 1000
}

/** Returns a date whose UTC parts are the date and time that clocks in the zone show. */
export const inZone = (run: Run, date: Date, zone: string): Date =>
  zone === 'UTC' ? date : new Date(date.getTime() + offsetOf(run, zone, date.getTime()))

/**
 * Returns the time at which clocks in the zone show `local`. If clocks show it twice (they go back), returns the first
 * time; if clocks never show it (they go forward), returns a time later by the skipped interval.
 */
export function fromZone(run: Run, local: number, zone: string): Date {
  const before = offsetOf(run, zone, local - DAY)
  const after = offsetOf(run, zone, local + DAY)
  const fits = before !== after && offsetOf(run, zone, local - before) !== before
  const chosen = fits && offsetOf(run, zone, local - after) === after ? after : before
  return validDate(local - chosen)
}

export const zoneOf = (value: CelValue | undefined): string => {
  if (value === undefined) return 'UTC'
  if (typeof value === 'string') return value
  throw failure(`a time zone is a text, not a ${typeOf(value)}`)
}

export const dateOf = (value: CelValue | undefined): Date => {
  if (value instanceof Date) return value
  throw failure(`a timestamp is expected, not a ${typeOf(value as CelValue)}`)
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const TOKEN = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/y
const MAX_PATTERN = 200

type Piece = { literal: string } | { token: string }

function piecesOf(pattern: string): Piece[] {
  if (pattern.length > MAX_PATTERN) throw failure(`a time pattern has at most ${MAX_PATTERN} characters`)
  const pieces: Piece[] = []
  for (let at = 0; at < pattern.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(pattern)
    if (!match) throw failure('a quote in the time pattern is not closed')
    if (match[1] !== undefined) pieces.push({ literal: match[1] === '' ? "'" : match[1].replaceAll("''", "'") })
    else pieces.push(match[2] ? { token: match[0] } : { literal: match[0] })
  }
  return pieces
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

const offsetText = (ms: number): string => {
  const minutes = Math.abs(Math.round(ms / 60_000))
  return `${ms < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60), 2)}:${digits(minutes % 60, 2)}`
}

type Shown = { local: Date; offset: number }

const WRITE: Readonly<Record<string, (shown: Shown) => string>> = {
  yyyy: ({ local }) => digits(local.getUTCFullYear(), 4),
  yy: ({ local }) => digits(local.getUTCFullYear() % 100, 2),
  MMMM: ({ local }) => MONTHS[local.getUTCMonth()] as string,
  MMM: ({ local }) => (MONTHS[local.getUTCMonth()] as string).slice(0, 3),
  MM: ({ local }) => digits(local.getUTCMonth() + 1, 2),
  M: ({ local }) => String(local.getUTCMonth() + 1),
  dd: ({ local }) => digits(local.getUTCDate(), 2),
  d: ({ local }) => String(local.getUTCDate()),
  EEEE: ({ local }) => WEEKDAYS[local.getUTCDay()] as string,
  EEE: ({ local }) => (WEEKDAYS[local.getUTCDay()] as string).slice(0, 3),
  HH: ({ local }) => digits(local.getUTCHours(), 2),
  H: ({ local }) => String(local.getUTCHours()),
  hh: ({ local }) => digits(((local.getUTCHours() + 11) % 12) + 1, 2),
  h: ({ local }) => String(((local.getUTCHours() + 11) % 12) + 1),
  a: ({ local }) => (local.getUTCHours() < 12 ? 'AM' : 'PM'),
  mm: ({ local }) => digits(local.getUTCMinutes(), 2),
  ss: ({ local }) => digits(local.getUTCSeconds(), 2),
  SSS: ({ local }) => digits(local.getUTCMilliseconds(), 3),
  XXX: ({ offset }) => (offset === 0 ? 'Z' : offsetText(offset)),
  xxx: ({ offset }) => offsetText(offset),
}

const unknownToken = (token: string) =>
  failure(`unknown part "${token}" of a time pattern; known are ${Object.keys(WRITE).join(' ')}, and 'text' in quotes`)

export function formatTime(run: Run, date: Date, pattern: string, zone: string): string {
  const local = inZone(run, date, zone)
  const shown = { local, offset: local.getTime() - date.getTime() }
  let text = ''
  for (const piece of piecesOf(pattern)) {
    run.spend(4)
    if ('literal' in piece) {
      text += piece.literal
      continue
    }
    const write = WRITE[piece.token]
    if (!write) throw unknownToken(piece.token)
    text += write(shown)
  }
  return run.text(text)
}

const READ: Readonly<Record<string, RegExp>> = {
  yyyy: /\d{4}/y,
  yy: /\d\d/y,
  MMMM: /[A-Za-z]{3,9}/y,
  MMM: /[A-Za-z]{3}/y,
  MM: /\d\d/y,
  M: /\d\d?/y,
  dd: /\d\d/y,
  d: /\d\d?/y,
  EEEE: /[A-Za-z]{6,9}/y,
  EEE: /[A-Za-z]{3}/y,
  HH: /\d\d/y,
  H: /\d\d?/y,
  hh: /\d\d/y,
  h: /\d\d?/y,
  a: /[AaPp][Mm]/y,
  mm: /\d\d/y,
  ss: /\d\d/y,
  SSS: /\d{3}/y,
  XXX: /Z|[+-]\d\d:\d\d/y,
  xxx: /[+-]\d\d:\d\d/y,
}

export function parseTime(run: Run, source: string, pattern: string, zone: string): Date {
  const found: Record<string, string> = {}
  let at = 0
  const wrong = () => failure(`the text is not a time written as "${pattern}"`)
  for (const piece of piecesOf(pattern)) {
    run.spend(4)
    if ('literal' in piece) {
      if (!source.startsWith(piece.literal, at)) throw wrong()
      at += piece.literal.length
      continue
    }
    const read = READ[piece.token]
    if (!read) throw unknownToken(piece.token)
    read.lastIndex = at
    const match = read.exec(source)
    if (!match) throw wrong()
    at = read.lastIndex
    found[piece.token] = match[0]
  }
  if (at !== source.length) throw wrong()
  const local = localTime(found)
  if (local === undefined) throw wrong()
  const offset = found.XXX ?? found.xxx
  return fromZone(run, local, offset === undefined ? zone : offset === 'Z' ? 'UTC' : offset)
}

function localTime(found: Record<string, string>): number | undefined {
  const named = found.MMMM ?? found.MMM
  const wanted = named?.toLowerCase()
  const byName = wanted && MONTHS.findIndex((name) => [name, name.slice(0, 3)].some((n) => n.toLowerCase() === wanted))
  const month = wanted ? Number(byName) : Number(found.MM ?? found.M ?? 1) - 1
  const year = found.yyyy ? Number(found.yyyy) : found.yy ? 2000 + Number(found.yy) : 1970
  const day = Number(found.dd ?? found.d ?? 1)
  const twelve = found.hh ?? found.h
  const isLate = found.a?.toLowerCase() === 'pm'
  const hour = twelve === undefined ? Number(found.HH ?? found.H ?? 0) : (Number(twelve) % 12) + (isLate ? 12 : 0)
  const [minute, second, ms] = [Number(found.mm ?? 0), Number(found.ss ?? 0), Number(found.SSS ?? 0)]
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  const isReal =
    date.getUTCMonth() === month && date.getUTCDate() === day && (twelve === undefined || Number(twelve) <= 12)
  if (!isReal || hour > 23 || minute > 59 || second > 59) return undefined
  return date.setUTCHours(hour, minute, second, ms)
}

const FIXED = new Map([
  ['millisecond', 1],
  ['second', 1_000],
  ['minute', 60_000],
  ['hour', HOUR],
])
const MONTHS_OF = new Map([
  ['month', 1],
  ['quarter', 3],
  ['year', 12],
])
const DAYS_OF = new Map([
  ['day', 1],
  ['week', 7],
])

const unknownUnit = (unit: string) =>
  failure(
    `unknown unit "${unit.slice(0, 20)}"; known are ${[FIXED, DAYS_OF, MONTHS_OF].flatMap((units) => [...units.keys()]).join(', ')}`,
  )

/** Returns the start of the unit that contains the date. Weeks start on Monday. */
export function startOf(run: Run, date: Date, unit: string, zone: string): Date {
  const local = inZone(run, date, zone)
  const fixed = FIXED.get(unit)
  // Clocks do not change within an hour, so the offset is constant. In half-hour zones, hours start when local clocks
  // show a full hour.
  if (fixed !== undefined) return validDate(date.getTime() - (((local.getTime() % fixed) + fixed) % fixed))
  const start = new Date(local.getTime())
  start.setUTCHours(0, 0, 0, 0)
  const months = MONTHS_OF.get(unit)
  if (unit === 'week') start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7))
  else if (months !== undefined) start.setUTCMonth(Math.floor(start.getUTCMonth() / months) * months, 1)
  else if (unit !== 'day') throw unknownUnit(unit)
  return fromZone(run, start.getTime(), zone)
}

/**
 * Adds an amount of a unit. Days and longer units keep the local time of day; if the target month has no such day, the
 * result is its last day.
 */
export function addTime(run: Run, date: Date, amount: number, unit: string, zone: string): Date {
  const fixed = FIXED.get(unit)
  if (fixed !== undefined) return validDate(date.getTime() + amount * fixed)
  if (!Number.isInteger(amount) || Math.abs(amount) > 4_000_000) throw failure(`a whole number of ${unit}s is expected`)
  const local = inZone(run, date, zone)
  const days = DAYS_OF.get(unit)
  const months = MONTHS_OF.get(unit)
  if (days !== undefined) return fromZone(run, local.getTime() + amount * days * DAY, zone)
  if (months === undefined) throw unknownUnit(unit)
  const moved = new Date(local.getTime())
  const day = moved.getUTCDate()
  moved.setUTCMonth(moved.getUTCMonth() + amount * months, 1)
  const end = new Date(moved.getTime())
  end.setUTCMonth(end.getUTCMonth() + 1, 0)
  moved.setUTCDate(Math.min(day, end.getUTCDate()))
  return fromZone(run, moved.getTime(), zone)
}

/** Returns the whole units from `b` to `a`; negative if `a` is earlier. */
export function difference(run: Run, a: Date, b: Date, unit: string, zone: string): number {
  const fixed = FIXED.get(unit)
  const ms = a.getTime() - b.getTime()
  if (fixed !== undefined) return Math.trunc(ms / fixed) + 0
  const [from, to] = [inZone(run, b, zone), inZone(run, a, zone)]
  const days = DAYS_OF.get(unit)
  if (days !== undefined) return Math.trunc((to.getTime() - from.getTime()) / (days * DAY)) + 0
  const months = MONTHS_OF.get(unit)
  if (months === undefined) throw unknownUnit(unit)
  const sign = ms < 0 ? -1 : 1
  const apart = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
  const reached = addTime(run, b, apart, 'month', zone).getTime()
  const whole = sign * (reached - a.getTime()) > 0 ? apart - sign : apart
  return Math.trunc(whole / months) + 0
}

const dayOfYear = (value: Date): number => {
  const first = new Date(value.getTime())
  first.setUTCMonth(0, 1)
  first.setUTCHours(0, 0, 0, 0)
  return Math.floor((value.getTime() - first.getTime()) / DAY)
}

export const DATE_PARTS: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
}

/** Methods of a duration that return its whole length in the unit. */
export const DURATION_PARTS: Readonly<Record<string, number>> = {
  getHours: HOUR,
  getMinutes: 60_000,
  getSeconds: 1_000,
  getMilliseconds: 1,
}

export const durationPart = (value: Duration, msPerUnit: number): number => Math.trunc(value.ms / msPerUnit) + 0
