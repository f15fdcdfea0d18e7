import {
  type Day,
  isBefore,
  isDay,
  lastOfMonth,
  monthFirst,
  plusDays,
  plusMonths,
  todayIn,
  weekdayOf,
} from './calendar.ts'
import type { Place, Span } from './index.ts'
import { findNumbers } from './numbers.ts'
import { hide, matches } from './text.ts'

export type FoundDay = Span & { day: Day; sure: number; yearSaid: boolean; weekday: boolean }

/** The result of one pattern. Undefined if the words look like a day but are not a valid day, such as February 31. */
type Reading = { day: Day; sure: number; yearSaid?: boolean; weekday?: boolean } | undefined
type Rule = { pattern: RegExp; read(groups: Record<string, string | undefined>, today: Day, place: Place): Reading }

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'.split('|')
const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const weekdays = 'mon|tue|wed|thu|fri|sat|sun'.split('|')
const WEEKDAY =
  '(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)'
const COUNT = '\\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|twenty|thirty'

const countOf = (word: string): number => (/^an?$/i.test(word) ? 1 : (findNumbers(word)[0]?.value ?? Number.NaN))
const monthOf = (name: string): number => months.indexOf(name.slice(0, 3).toLowerCase()) + 1
const weekdayNamed = (name: string): number => weekdays.indexOf(name.slice(0, 3).toLowerCase())

const fullYear = (year: string): number => (year.length === 2 ? 2000 + Number(year) : Number(year))

/** Returns the next occurrence of a day without a year. February 29 waits for the next leap year. */
const coming = (month: number, day: number, today: Day): Day | undefined => {
  for (let year = today.year; year < today.year + 5; year++) {
    const candidate = { year, month, day }
    if (isDay(candidate) && !isBefore(candidate, today)) return candidate
  }
  return undefined
}

const dated = (year: string | undefined, month: number, day: number, today: Day, sure: number): Reading => {
  const found = year ? { year: fullYear(year), month, day } : coming(month, day, today)
  return found && isDay(found) ? { day: found, sure, yearSaid: Boolean(year) } : undefined
}

const shifted = (today: Day, count: number, unit: string): Day | undefined => {
  if (!Number.isFinite(count)) return undefined
  if (/^day|^night/i.test(unit)) return plusDays(today, count)
  if (/^week/i.test(unit)) return plusDays(today, 7 * count)
  if (/^fortnight/i.test(unit)) return plusDays(today, 14 * count)
  return plusMonths(today, /^year/i.test(unit) ? 12 * count : count)
}

const ahead = (today: Day, weekday: number): number => (weekday - weekdayOf(today) + 7) % 7

const written: Rule[] = [
  {
    pattern: /(?<![\d-])(?<y>\d{4})[-/.](?<m>\d{1,2})[-/.](?<d>\d{1,2})(?![\d-])/,
    read: ({ y, m, d }, today) => dated(y, Number(m), Number(d), today, 1),
  },
  {
    // In "1 to 5 December", the first day uses the month of the second.
    pattern: new RegExp(
      `(?<![\\d.:/-])(?<d>\\d{1,2})(?:st|nd|rd|th)?(?=\\s*(?:to|until|till|through|and|-|–)\\s*(?:the\\s+)?\\d{1,2}(?:st|nd|rd|th)?(?:\\s+of)?\\s+(?<m>${MONTH})\\b\\.?(?:,?\\s+(?<y>\\d{4})(?!\\d))?)`,
    ),
    read: ({ y, m, d }, today) => dated(y, monthOf(m as string), Number(d), today, 0.95),
  },
  {
    pattern: new RegExp(
      `(?<![\\d.])(?<d>\\d{1,2})(?:st|nd|rd|th)?(?:\\s+of)?\\s+(?<m>${MONTH})\\b\\.?(?:,?\\s+(?<y>\\d{4})(?!\\d))?`,
    ),
    read: ({ y, m, d }, today) => dated(y, monthOf(m as string), Number(d), today, 1),
  },
  {
    pattern: new RegExp(
      `\\b(?<m>${MONTH})\\.?\\s+(?:the\\s+)?(?<d>\\d{1,2})(?:st|nd|rd|th)?(?![\\d:.]*\\d)(?!\\s*(?:am|pm)\\b)(?:,?\\s+(?<y>\\d{4})(?!\\d))?`,
    ),
    read: ({ y, m, d }, today) => dated(y, monthOf(m as string), Number(d), today, 1),
  },
  {
    pattern: /(?<![\d.])(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?<y>\d{4}|\d{2}(?!\d))?(?![\d])/,
    read: ({ y, m, d }, today) => dated(y, Number(m), Number(d), today, 0.97),
  },
  {
    pattern:
      /(?<![\d/])(?<a>\d{1,2})[/-](?<b>\d{1,2})(?:[/-](?<y>\d{4}|\d{2}))(?![\d/])|(?<![\d/])(?<e>\d{1,2})\/(?<f>\d{1,2})(?![\d/])/,
    read: ({ a, b, e, f, y }, today, { timeZone }) => {
      const [first, second] = [Number(a ?? e), Number(b ?? f)]
      const certain = first > 12 || second > 12 || first === second
      const month = second > 12 || (first <= 12 && monthFirst(timeZone)) ? first : second
      const day = month === first && first !== second ? second : first
      return dated(y, month, day, today, certain ? 0.97 : 0.8)
    },
  },
  {
    pattern: /\b(?:the\s+)?day\s+after\s+tomorrow\b/,
    read: (_, today) => ({ day: plusDays(today, 2), sure: 1 }),
  },
  { pattern: /\b(?:the\s+)?day\s+before\s+yesterday\b/, read: (_, today) => ({ day: plusDays(today, -2), sure: 1 }) },
  {
    pattern: new RegExp(`\\b(?<n>${COUNT})\\s+(?<u>weeks?)\\s+(?:from|after)\\s+(?<w>${WEEKDAY}|tomorrow)\\b`),
    read: ({ n, w }, today) => {
      const start = /^tomorrow/i.test(w as string) ? 1 : ahead(today, weekdayNamed(w as string)) || 7
      return { day: plusDays(today, start + 7 * countOf(n as string)), sure: 0.9 }
    },
  },
  {
    pattern: new RegExp(
      `\\bin\\s+(?:about\\s+)?(?<n>${COUNT})\\s+(?<u>days?|weeks?|fortnights?|months?|years?)(?:['’]s?\\s+time)?\\b|\\b(?<n2>${COUNT})\\s+(?<u2>days?|weeks?|fortnights?|months?)\\s+(?:from\\s+(?:now|today)|later)\\b`,
    ),
    read: ({ n, u, n2, u2 }, today) => {
      const day = shifted(today, countOf((n ?? n2) as string), (u ?? u2) as string)
      return day && { day, sure: 0.98 }
    },
  },
  {
    pattern: new RegExp(`\\b(?<n>${COUNT})\\s+(?<u>days?|weeks?|months?|years?)\\s+ago\\b`),
    read: ({ n, u }, today) => {
      const day = shifted(today, -countOf(n as string), u as string)
      return day && { day, sure: 0.98, yearSaid: true }
    },
  },
  {
    pattern: new RegExp(`\\b(?<which>next|last|this(?:\\s+coming)?|coming)\\s+(?<w>${WEEKDAY})\\b`),
    read: ({ which, w }, today) => {
      const weekday = weekdayNamed(w as string)
      const days = ahead(today, weekday)
      const said = (which as string).toLowerCase()
      if (said === 'last') return { day: plusDays(today, days - 7), sure: 0.95, yearSaid: true }
      // "next Friday" is the Friday of next week, but some people mean the coming one, so the confidence is lower.
      if (said === 'next') return { day: plusDays(today, 7 - weekdayOf(today) + weekday), sure: 0.85 }
      return { day: plusDays(today, days || (said === 'coming' ? 7 : 0)), sure: 0.95 }
    },
  },
  {
    pattern: new RegExp(`\\b(?<w>${WEEKDAY})\\s+(?:next\\s+week|week)\\b`),
    read: ({ w }, today) => ({ day: plusDays(today, 7 - weekdayOf(today) + weekdayNamed(w as string)), sure: 0.95 }),
  },
  {
    pattern: /\b(?:the\s+)?end\s+of\s+(?<which>the|this|next)\s+(?<u>month|year)\b/,
    read: ({ which, u }, today) => {
      const later = /next/i.test(which as string) ? 1 : 0
      if (/year/i.test(u as string)) return { day: { year: today.year + later, month: 12, day: 31 }, sure: 0.9 }
      const month = plusMonths({ ...today, day: 1 }, later)
      return { day: { ...month, day: lastOfMonth(month.year, month.month) }, sure: 0.9 }
    },
  },
  {
    pattern: /\b(?<w>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|tues|wed|thu|thur|thurs|fri)\b/,
    read: ({ w }, today) => {
      const days = ahead(today, weekdayNamed(w as string))
      // On a Friday, "Friday" means today or in a week.
      return days === 0
        ? { day: plusDays(today, 7), sure: 0.6 }
        : { day: plusDays(today, days), sure: 0.95, weekday: true }
    },
  },
  {
    pattern: /\b(?<w>today|tonight|tomorrow|tmrw|tomorow|yesterday|this (?:morning|afternoon|evening))\b/,
    read: ({ w }, today) => {
      const word = (w as string).toLowerCase()
      return {
        day: plusDays(today, word.startsWith('yes') ? -1 : word.startsWith('tm') || word.startsWith('tomo') ? 1 : 0),
        sure: 1,
        yearSaid: true,
      }
    },
  },
  {
    pattern: /\b(?<w>christmas(?:\s+eve|\s+day)?|new\s+year['’]?s\s+(?:eve|day))\b/,
    read: ({ w }, today) => {
      const word = (w as string).toLowerCase()
      const [month, day] = word.startsWith('new')
        ? word.endsWith('eve')
          ? [12, 31]
          : [1, 1]
        : word.endsWith('eve')
          ? [12, 24]
          : [12, 25]
      return dated(undefined, month as number, day as number, today, 0.95)
    },
  },
  {
    pattern:
      /\b(?:on\s+|by\s+|until\s+|from\s+)?the\s+(?<d>\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:floor|time|birthday|person|one|street|avenue|row|version))/,
    read: ({ d }, today) => {
      for (let ahead = 0; ahead < 3; ahead++) {
        const month = plusMonths({ ...today, day: 1 }, ahead)
        const day = { ...month, day: Number(d) }
        if (isDay(day) && !isBefore(day, today)) return { day, sure: 0.9 }
      }
      return undefined
    },
  },
]

const rules = written.map((rule) => ({ ...rule, pattern: new RegExp(rule.pattern.source, 'giu') }))

export const findDays = (text: string, place: Place): FoundDay[] => {
  const today = todayIn(place.timeZone, place.now)
  const found: FoundDay[] = []
  let open = text
  for (const { pattern, read } of rules) {
    for (const match of matches(open, pattern)) {
      const span = { from: match.index, to: match.index + match[0].length }
      const reading = read(match.groups ?? {}, today, place)
      if (reading)
        found.push({
          ...span,
          day: reading.day,
          sure: reading.sure,
          yearSaid: reading.yearSaid ?? false,
          weekday: reading.weekday ?? false,
        })
      // Words that look like a day but are not a valid day must not be read as a number either.
      open = hide(open, [span])
    }
  }
  return inOrder(
    merge(
      found.sort((a, b) => a.from - b.from),
      text,
    ),
    text,
  )
}

/** Merges a day that is stated twice, as in "Friday, 14 November" and "tomorrow (2025-11-16)". */
const merge = (found: FoundDay[], text: string): FoundDay[] => {
  const merged: FoundDay[] = []
  for (const next of found) {
    const last = merged.at(-1)
    const between = last ? text.slice(last.to, next.from) : ''
    const same = last && JSON.stringify(last.day) === JSON.stringify(next.day)
    if (last && /^[\s,(]*(?:the\s+)?$/.test(between) && (same || /^\w+$/.test(text.slice(last.from, last.to)))) {
      const sure = same ? 1 : next.sure * 0.8
      merged[merged.length - 1] = { ...next, from: last.from, sure }
    } else merged.push(next)
  }
  return merged
}

/** In "Monday until Thursday", uses the Thursday after that Monday, independent of today. */
const inOrder = (found: FoundDay[], text: string): FoundDay[] =>
  found.map((day, i) => {
    const before = found[i - 1]
    const follows = before && /^\s*(?:to|until|till|til|through|and|-|–)\s*$/i.test(text.slice(before.to, day.from))
    if (!follows || !day.weekday || !isBefore(day.day, before.day)) return day
    return { ...day, day: plusDays(before.day, ahead(before.day, weekdayOf(day.day)) || 7) }
  })

/** Returns the most recent occurrence of the day and month, not after today, for events in the past. */
export const mostRecent = (day: Day, place: Place): Day => {
  const today = todayIn(place.timeZone, place.now)
  return isBefore(today, day)
    ? { ...day, year: isBefore(today, { ...day, year: today.year }) ? today.year - 1 : today.year }
    : day
}
