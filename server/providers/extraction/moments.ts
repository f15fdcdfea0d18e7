import { type Day, isBefore, offsetAt, showDay, showInstant, showOffset, showTime, todayIn } from './calendar.ts'
import { type FoundDay, mostRecent } from './dates.ts'
import type { Candidate, Place, Span } from './index.ts'
import type { Scan } from './scan.ts'
import { before } from './text.ts'
import type { Want } from './wants.ts'

// Decides which day or time is meant: the start or the end of a period, in the past or in the future.

const dayFor = (found: FoundDay, want: Want, place: Place): Day | undefined => {
  if (!want.past || found.yearSaid) return found.day
  // A birthday without a year is not a date of birth.
  return [...want.about].some((stem) => /^(?:birth|born|dob|birthday)/.test(stem))
    ? undefined
    : mostRecent(found.day, place)
}

const startCue =
  /\b(?:from|starting|start|starts|begin|beginning|between|since|arriv\w+|check(?:ing)?[ -]?in|depart\w+|pick(?:ing)?[ -]?(?:it )?up)\b(?:\s+(?:on|at|the|is|date|of|in|me|it|us|:))*\s*$/i
const endCue =
  /(?:\b(?:to|until|till|til|through|end|ends|ending|return\w*|back|check(?:ing)?[ -]?out|drop(?:ping)?[ -]?(?:it )?off|by|finish\w*)\b|[-–—])(?:\s+(?:on|at|the|is|date|of|in|me|it|:))*\s*$/i

const leaveCue = /\bleav(?:e|es|ing)\b(?:\s+(?:on|at|the))*\s*$/i

/**
 * Returns whether a day is the start or the end of a period, as in "from Monday to Friday" or "check in on the 3rd".
 */
const roleOf = (scan: Scan, span: Span, others: Span[]): 'start' | 'end' | undefined => {
  const earlier = before(scan.message, span.from)
  // Guests leave at the end of a period, travellers leave at the start.
  if (leaveCue.test(earlier))
    return /\b(?:arriv\w+|check|from|stay\w*)\b/i.test(before(scan.message, span.from)) ? 'end' : 'start'
  if (startCue.test(earlier)) return 'start'
  if (endCue.test(earlier)) return 'end'
  const previous = others.filter(({ to }) => to <= span.from).at(-1)
  if (
    previous &&
    /^\s*(?:and|to|-|–|until|till|through)\s*(?:the\s+)?$/i.test(scan.message.slice(previous.to, span.from))
  )
    return 'end'
  const next = others.find(({ from }) => from >= span.to)
  if (next && /^\s*(?:and|to|-|–|until|till|through)\s*(?:the\s+)?$/i.test(scan.message.slice(span.to, next.from)))
    return 'start'
  return undefined
}

const roleFit = (want: Want, role: 'start' | 'end' | undefined): number => {
  if (!want.role) return 1
  if (!role) return 0.93
  return role === want.role ? 1.03 : 0
}

/** Orders two days if the message does not say which is which: the earlier day is the start. */
const byOrder = (scan: Scan, want: Want, found: FoundDay): number => {
  const [first, second] = scan.days
  if (!want.role || !first || !second || scan.days.length !== 2) return roleFit(want, undefined)
  if (roleOf(scan, first, scan.days) || roleOf(scan, second, scan.days) || !isBefore(first.day, second.day))
    return roleFit(want, undefined)
  return (found === first) === (want.role === 'start') ? 0.9 : 0
}

export const readDays = (scan: Scan, want: Want, place: Place): Candidate[] =>
  scan.days.flatMap((found): Candidate[] => {
    // "before Christmas" does not name a specific day.
    if (/\b(?:before|after)\s+(?:the\s+)?$/i.test(before(scan.message, found.from))) return []
    const day = dayFor(found, want, place)
    const role = roleOf(scan, found, scan.days)
    const fit = role ? roleFit(want, role) : byOrder(scan, want, found)
    if (!day || fit === 0) return []
    return [
      {
        from: found.from,
        to: found.to,
        value: showDay(day),
        score: Math.min(0.95, 0.92 * fit) * found.sure,
        named: false,
      },
    ]
  })

export const readTimes = (scan: Scan, want: Want, place: Place): Candidate[] =>
  scan.times.flatMap((found): Candidate[] => {
    const fit = roleFit(want, roleOf(scan, found, scan.times))
    if (fit === 0) return []
    const plain = showTime(found.minutes)
    const full = `${plain}:00${showOffset(offsetAt(place.timeZone, todayIn(place.timeZone, place.now), found.minutes))}`
    const value = want.schema.format === 'time' ? full : plain
    return [{ from: found.from, to: found.to, value, score: Math.min(0.95, 0.92 * fit) * found.sure, named: false }]
  })

/** Combines a day and a time if only a few words are between them. */
export const readMoments = (scan: Scan, want: Want, place: Place): Candidate[] => {
  const joined = scan.days.flatMap((day) =>
    scan.times.flatMap((time): Candidate[] => {
      const [first, second] = day.from < time.from ? [day, time] : [time, day]
      const between = scan.message.slice(first.to, second.from)
      if (between.length > 25 || /[.!?\n;]\s/.test(between)) return []
      const span = { from: first.from, to: second.to }
      const fit = roleFit(want, roleOf(scan, first, scan.days))
      const distance = between.length > 12 ? 0.95 : 1
      return fit === 0
        ? []
        : [
            {
              ...span,
              value: showInstant(place.timeZone, day.day, time.minutes),
              score: Math.min(0.95, 0.92 * fit) * day.sure * time.sure * distance,
              named: false,
            },
          ]
    }),
  )
  const soon = scan.moments.map(({ from, to, day, minutes, sure }) => ({
    from,
    to,
    value: showInstant(place.timeZone, day, minutes),
    score: 0.92 * sure,
    named: false,
  }))
  return [...joined, ...soon]
}
