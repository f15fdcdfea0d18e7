import { type Day, wallClock } from './calendar.ts'
import type { Span } from './index.ts'
import { matches } from './text.ts'

export type FoundTime = Span & { minutes: number; sure: number }
export type FoundMoment = Span & { day: Day; minutes: number; sure: number }

const hourWords = 'twelve one two three four five six seven eight nine ten eleven'.split(' ')
const HOUR = `\\d{1,2}|${hourWords.join('|')}`

const hourOf = (text: string): number => {
  const word = hourWords.indexOf(text.toLowerCase())
  return word >= 0 ? word : Number(text)
}

/**
 * Returns the minutes since midnight. The confidence is lower if the words do not say am or pm, as in "half past six".
 */
const clock = (
  hour: number,
  minute: number,
  half: string | undefined,
): { minutes: number; sure: number } | undefined => {
  if (minute > 59 || hour > 24 || (half && (hour > 12 || hour === 0))) return undefined
  if (half) return { minutes: ((hour % 12) + (/^p/i.test(half) ? 12 : 0)) * 60 + minute, sure: 1 }
  return { minutes: (hour % 24) * 60 + minute, sure: hour > 12 || hour === 0 ? 1 : 0.7 }
}

/** Finds the part of the day, as in "nine in the morning" or "tonight at eight". */
const partOfDay = (text: string, span: Span): 'am' | 'pm' | undefined => {
  const near = text.slice(Math.max(0, span.from - 24), Math.min(text.length, span.to + 24))
  if (/\bmorning\b/i.test(near)) return 'am'
  return /\b(?:afternoon|evening|tonight|at night)\b/i.test(near) ? 'pm' : undefined
}

type Rule = {
  pattern: RegExp
  read(groups: Record<string, string | undefined>): { minutes: number; sure: number } | undefined
}

const written: Rule[] = [
  {
    pattern: /(?<![\d:])(?<h>\d{1,2})(?:[:.](?<m>\d{2}))?\s?(?<half>[ap])\.?m\b\.?/,
    read: ({ h, m, half }) => clock(Number(h), Number(m ?? 0), half),
  },
  {
    pattern: /(?<![\d:])(?<h>\d{1,2})(?::|h)(?<m>\d{2})(?::\d{2})?(?![\d:])/,
    // A time with a colon and two digits before it uses the 24-hour clock.
    read: ({ h, m }) => {
      const read = clock(Number(h), Number(m), undefined)
      return (
        read && { ...read, sure: (h as string).length === 2 ? Math.max(read.sure, 0.95) : read.sure === 1 ? 1 : 0.85 }
      )
    },
  },
  {
    pattern: new RegExp(
      `\\b(?<what>half past|quarter past|quarter to|ten past|ten to|twenty past|twenty to)\\s+(?<h>${HOUR})\\b`,
    ),
    read: ({ what, h }) => {
      const shift = {
        'half past': 30,
        'quarter past': 15,
        'quarter to': -15,
        'ten past': 10,
        'ten to': -10,
        'twenty past': 20,
        'twenty to': -20,
      }
      const read = clock(hourOf(h as string), 0, undefined)
      const by = shift[(what as string).toLowerCase() as keyof typeof shift]
      return read && { minutes: (read.minutes + by + 1440) % 1440, sure: read.sure }
    },
  },
  {
    pattern: new RegExp(`\\b(?<h>${HOUR})\\s*o['’]?\\s?clock\\b`),
    read: ({ h }) => clock(hourOf(h as string), 0, undefined),
  },
  {
    pattern: new RegExp(`\\b(?<h>${HOUR})\\s+(?:in the\\s+(?<part>morning|afternoon|evening)|at night)\\b`),
    read: ({ h, part }) => clock(hourOf(h as string), 0, part?.toLowerCase() === 'morning' ? 'a' : 'p'),
  },
  { pattern: /\b(?:at\s+)?(?:noon|midday)\b/, read: () => ({ minutes: 720, sure: 1 }) },
  { pattern: /\b(?:at\s+)?midnight\b/, read: () => ({ minutes: 0, sure: 0.9 }) },
  {
    pattern: new RegExp(
      `(?<=\\bat\\s)(?<h>${HOUR})(?=\\s*(?:$|[.,;!?](?!\\d)|on\\b|tomorrow\\b|today\\b|tonight\\b|sharp\\b|please\\b))`,
    ),
    read: ({ h }) => clock(hourOf(h as string), 0, undefined),
  },
]

const rules = written.map((rule) => ({ ...rule, pattern: new RegExp(rule.pattern.source, 'giu') }))

export const findTimes = (text: string): FoundTime[] => {
  const found: FoundTime[] = []
  for (const { pattern, read } of rules) {
    for (const match of matches(text, pattern)) {
      const span = { from: match.index, to: match.index + match[0].length }
      const reading = read(match.groups ?? {})
      if (!reading || found.some((other) => other.from < span.to && span.from < other.to)) continue
      const half = reading.sure < 0.9 ? partOfDay(text, span) : undefined
      const minutes = half ? (reading.minutes % 720) + (half === 'pm' ? 720 : 0) : reading.minutes
      found.push({ ...span, minutes, sure: half ? 0.98 : reading.sure })
    }
  }
  return found.sort((a, b) => a.from - b.from)
}

/** Finds moments relative to now, such as "in 2 hours" or "in half an hour". They are not times of day. */
export const findMoments = (text: string, timeZone: string, now: Date): FoundMoment[] =>
  matches(text, /\bin\s+(?:(\d{1,3})|(an?|one|two|three|four)|(half\s+an))\s+(minutes?|mins?|hours?|hrs?)\b/giu).map(
    (match) => {
      const [, digits, word, half, unit] = match
      const count = half
        ? 0.5
        : digits
          ? Number(digits)
          : Math.max(1, hourWords.indexOf((word as string).toLowerCase()))
      const ms = count * (/^h/i.test(unit as string) ? 3_600_000 : 60_000)
      const { day, minutes } = wallClock(timeZone, new Date(now.getTime() + ms))
      return { from: match.index, to: match.index + match[0].length, day, minutes, sure: 0.97 }
    },
  )
