import { language, locale, t } from '#web/words/language.ts'

// Times and durations as readable text.

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
const minute = new Intl.DateTimeFormat(locale, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

export function relativeTime(at: Date, now: number): string {
  const seconds = (at.getTime() - now) / 1000
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return seconds < 15 ? t('just now') : t('in under a minute')
}

const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
/** Formats a date for places where the hour does not matter. */
export const exactDay = (at: string | Date): string => day.format(new Date(at))

export const exactTime = (at: string | Date): string => exact.format(new Date(at))

/** Formats a future time for places where seconds do not matter. */
export const exactMinute = (at: string | Date): string => minute.format(new Date(at))

export const TIMESTAMP = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** Returns a text of the service with readable times for its timestamps, for places that allow only text. */
export const timesInWords = (text: string): string =>
  text.replace(new RegExp(TIMESTAMP, 'g'), (at) => relativeTime(new Date(at), Date.now()))

const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

const lengths: [seconds: number, unit: string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
]

/** Formats a configured duration in its largest whole unit: 3 d, 90 min, 45 s. */
export function formatSeconds(seconds: number): string {
  const [length, unit] = lengths.find(([length]) => seconds > 0 && seconds % length === 0) ?? [1, 's']
  return `${seconds / length} ${unit}`
}

/** Formats a duration: 820 ms, 4.2 s, 3 min 5 s, 2 h 10 min. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return ms < 9_950 ? `${tenths.format(ms / 1000)} s` : `${Math.floor(ms / 1000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
