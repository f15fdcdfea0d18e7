import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { type Day, isBefore, offsetAt, showDay, showInstant, showOffset, showTime, todayIn } from './calendar.ts'
import { findAgreement, findChoices, findMentioned } from './choices.ts'
import { type FoundDay, mostRecent } from './dates.ts'
import type { Candidate, Span } from './index.ts'
import { type FoundNumber, unitOf } from './numbers.ts'
import type { Scan } from './scan.ts'
import { findStrings } from './strings.ts'
import { before, isNegated, isPlainQuestion, matches, stemOf, wordsOf } from './text.ts'
import type { Want } from './wants.ts'

// For every kind of requirement: what in the message could be its value, and how well it fits.

export type Place = { timeZone: string; now: Date }

export const fits = (want: Want, value: Json): boolean =>
  want.requirement.schema === undefined || validateJson(want.schema, value).length === 0

const groups = [
  'person people guest attendee participant adult visitor seat pax traveler traveller passenger employee user member party headcount us',
  'night day stay',
  'ticket seat pass',
  'item unit piece copy product quantity',
  'room bedroom',
  'child kid',
  'temperature degree celsius fahrenheit',
].map((group) => new Set(group.split(' ').map(stemOf)))

const generic = new Set(
  ['number', 'quantity', 'count', 'amount', 'qty', 'value', 'total', 'size', 'how', 'many'].map(stemOf),
)

const related = (stem: string, about: Set<string>): boolean =>
  about.has(stem) || groups.some((group) => group.has(stem) && [...about].some((word) => group.has(word)))

const partOfName =
  /\b(?:room|page|floor|version|windows|gate|flight|chapter|level|line|step|unit|apartment|suite|extension|terminal|seat|row|ending in|ends in|ending with)\s+(?:no\.?|number)?\s*$/i

/** A number that stands for itself answers only a message that is hardly more than it: others name rooms, years and versions. */
const isBare = (message: string): boolean => wordsOf(message).length <= 6

/** 1: the message counts exactly this; 0.7: it does not say what it counts; 0: it counts something else. */
export const nounFit = (number: FoundNumber, want: Want, message: string): number => {
  const stems = number.noun.slice(0, 3).map(stemOf)
  const narrow = new Set([...want.label, ...want.title])
  if (stems.slice(0, 2).some((stem) => !generic.has(stem) && related(stem, narrow))) return 1
  if (stems.some((stem) => !generic.has(stem) && related(stem, want.about))) return 0.97
  if (/^years?(?: old|$)/.test(number.noun.join(' '))) return want.about.has('age') ? 1 : want.unit ? 0.98 : 0
  if (
    want.about.has('age') &&
    /\b(?:i['’]?m|i am|(?:he|she)(?: is|['’]s)|aged?|turned|turning)\s+$/i.test(before(message, number.from))
  )
    return 1
  const unit = unitOf(number.noun[0])
  if (want.unit)
    return unit?.dimension === want.unit.dimension
      ? number.currency
        ? 0.85
        : 0.98
      : unit || number.currency || stems[0]
        ? 0
        : 0.8
  if (unit || number.currency || number.percent)
    return number.percent &&
      [...want.about].some((stem) => /^(?:percent|percentage|rate|discount|share|vat|tax|commission)/.test(stem))
      ? 1
      : 0
  const people = groups[0] as Set<string>
  if (
    [...narrow].some((stem) => people.has(stem)) &&
    /\b(?:for|party of|we are|we['’]re|there are|there will be|group of|table of)\s+(?:about\s+)?$/i.test(
      before(message, number.from),
    ) &&
    (stems.length === 0 ||
      /^(?:on|at|in|for|tomorrow|tonight|today|next|this|please|and|from|to|by|around|near)$/.test(
        number.noun[0] as string,
      ))
  )
    return 0.96
  const counted =
    stems[0] !== undefined &&
    !/^(?:please|and|or|is|are|would|should|will|in|on|at|for|to|by|from|if|then|but|it|the|thanks|thank|of|with|that|total|altogether|sounds|works|i|we|today|tomorrow|now|sorry|actually|no|wait|maybe)$/.test(
      number.noun[0] as string,
    )
  if (counted) return [...narrow].some((stem) => generic.has(stem)) ? 0.88 : 0
  return isBare(message) && !partOfName.test(before(message, number.from)) ? 0.85 : 0
}

const convert = (number: FoundNumber, want: Want): number => {
  const unit = unitOf(number.noun[0])
  if (!want.unit || !unit || unit.dimension !== want.unit.dimension) return number.value
  return Math.round(((number.value * unit.size) / want.unit.size) * 1e6) / 1e6
}

const readNumbers = (scan: Scan, want: Want): Candidate[] =>
  scan.numbers.flatMap((number): Candidate[] => {
    const fit = nounFit(number, want, scan.message)
    if (fit === 0 || number.range || (number.weak && fit < 0.95)) return []
    return [
      {
        from: number.from,
        to: number.to,
        value: convert(number, want),
        score: 0.95 * fit * (number.approximate ? 0.85 : 1),
        named: fit === 1,
      },
    ]
  })

const readMoney = (scan: Scan, want: Want): Candidate[] =>
  scan.numbers.flatMap((number): Candidate[] => {
    if (number.weak || number.percent || number.range) return []
    const fit = number.currency ? 0.97 : isBare(scan.message) && !isCounted(number) ? 0.82 : 0
    if (fit === 0 || (want.moneyObject && !number.currency)) return []
    const value = want.moneyObject ? { amount: number.value, currency: number.currency as string } : number.value
    return [
      { from: number.from, to: number.to, value, score: 0.95 * fit * (number.approximate ? 0.88 : 1), named: false },
    ]
  })

export const isCounted = (number: FoundNumber): boolean =>
  number.noun[0] !== undefined &&
  !/^(?:please|and|or|is|are|would|should|will|in|on|at|for|to|by|from|if|then|but|max|maximum|total|per|tops|or)$/.test(
    number.noun[0],
  )

const dayFor = (found: FoundDay, want: Want, place: Place): Day | undefined => {
  if (!want.past || found.yearSaid) return found.day
  // A birthday without its year is not a date of birth.
  return [...want.about].some((stem) => /^(?:birth|born|dob|birthday)/.test(stem))
    ? undefined
    : mostRecent(found.day, place)
}

const startCue =
  /\b(?:from|starting|start|starts|begin|beginning|between|since|arriv\w+|check(?:ing)?[ -]?in|depart\w+|pick(?:ing)?[ -]?(?:it )?up)\b(?:\s+(?:on|at|the|is|date|of|in|me|it|us|:))*\s*$/i
const endCue =
  /(?:\b(?:to|until|till|til|through|end|ends|ending|return\w*|back|check(?:ing)?[ -]?out|drop(?:ping)?[ -]?(?:it )?off|by|finish\w*)\b|[-–—])(?:\s+(?:on|at|the|is|date|of|in|me|it|:))*\s*$/i

const leaveCue = /\bleav(?:e|es|ing)\b(?:\s+(?:on|at|the))*\s*$/i

/** "from Monday to Friday", "check in on the 3rd": which end of a stretch this is. */
const roleOf = (scan: Scan, span: Span, others: Span[]): 'start' | 'end' | undefined => {
  const earlier = before(scan.message, span.from)
  // Guests leave at the end, travellers at the start.
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

/** Two days and not a word about which is which: the earlier one comes first. */
const byOrder = (scan: Scan, want: Want, found: FoundDay): number => {
  const [first, second] = scan.days
  if (!want.role || !first || !second || scan.days.length !== 2) return roleFit(want, undefined)
  if (roleOf(scan, first, scan.days) || roleOf(scan, second, scan.days) || !isBefore(first.day, second.day))
    return roleFit(want, undefined)
  return (found === first) === (want.role === 'start') ? 0.9 : 0
}

const readDays = (scan: Scan, want: Want, place: Place): Candidate[] =>
  scan.days.flatMap((found): Candidate[] => {
    // "before Christmas" is not a day yet.
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

const readTimes = (scan: Scan, want: Want, place: Place): Candidate[] =>
  scan.times.flatMap((found): Candidate[] => {
    const fit = roleFit(want, roleOf(scan, found, scan.times))
    if (fit === 0) return []
    const plain = showTime(found.minutes)
    const full = `${plain}:00${showOffset(offsetAt(place.timeZone, todayIn(place.timeZone, place.now), found.minutes))}`
    const value = want.schema.format === 'time' ? full : plain
    return [{ from: found.from, to: found.to, value, score: Math.min(0.95, 0.92 * fit) * found.sure, named: false }]
  })

/** A day and a time belong together when nothing but a few words stands between them. */
const readMoments = (scan: Scan, want: Want, place: Place): Candidate[] => {
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

/** The currency is another fact than the amount: it takes no words away from it. */
const readCurrencies = (scan: Scan, want: Want): Candidate[] => {
  const codes = new Set(scan.numbers.flatMap(({ currency }) => currency ?? []))
  return scan.numbers.flatMap(({ to, currency }): Candidate[] => {
    const option = want.options.find(({ value }) => value === currency)
    return option && codes.size === 1 ? [{ from: to, to, value: option.value, score: 0.93, named: false }] : []
  })
}

const readTokens = (tokens: Scan['emails'], score: number): Candidate[] =>
  tokens.map(({ from, to, text, sure }) => ({ from, to, value: text, score: score * sure, named: false }))

/** Words that match a pattern the schema asks for. */
const readPattern = (scan: Scan, want: Want): Candidate[] =>
  want.schema.pattern === undefined
    ? []
    : matches(scan.message, /[^\s,;!?"'()]{1,64}/gu)
        .map((match) => ({
          text: match[0].replace(/[.:]+$/, ''),
          from: match.index,
        }))
        .filter(({ text }) => text !== '' && fits(want, text))
        .map(({ text, from }) => ({ from, to: from + text.length, value: text, score: 0.87, named: false }))

const readStrings = (scan: Scan, want: Want): Candidate[] => [
  ...findStrings(scan.message, want),
  ...readPattern(scan, want),
  ...readTokens(scan.quoted, 0.82),
]

const readBooleans = (scan: Scan, want: Want): Candidate[] => {
  const mentioned = findMentioned(scan.message, want)
  const agreement = findAgreement(scan.message)
  return mentioned.length > 0 || !agreement ? mentioned : [agreement]
}

const readLists = (scan: Scan, want: Want, place: Place): Candidate[] => {
  const item = want.item as Want
  if (
    item.kind === 'string' ||
    item.kind === 'number' ||
    item.kind === 'boolean' ||
    item.kind === 'list' ||
    item.kind === 'other'
  )
    return []
  const parts = read(scan, item, place).filter(({ score }) => score >= 0.7)
  if (parts.length === 0) return []
  const values = [...new Map(parts.map(({ value }) => [JSON.stringify(value), value])).values()]
  const span = { from: Math.min(...parts.map(({ from }) => from)), to: Math.max(...parts.map(({ to }) => to)) }
  return [{ ...span, value: values, score: Math.min(...parts.map(({ score }) => score)), named: false }]
}

/** The items of a list that the message names: "tags: red, green and blue". */
export const splitList = (text: string): string[] =>
  text
    .split(/\s*(?:[,;\n]|\s+(?:and|plus|as well as)\s+|\s&\s)\s*/i)
    .map((part) => part.replace(/^(?:and|also|the)\s+/i, '').trim())
    .filter(Boolean)

export const read = (scan: Scan, want: Want, place: Place): Candidate[] => {
  const candidates = ((): Candidate[] => {
    switch (want.kind) {
      case 'date':
        return readDays(scan, want, place)
      case 'time':
        return readTimes(scan, want, place)
      case 'date-time':
        return readMoments(scan, want, place)
      case 'number':
        return readNumbers(scan, want)
      case 'money':
        return readMoney(scan, want)
      case 'email':
        return readTokens(scan.emails, 0.95)
      case 'phone':
        return readTokens(scan.phones, 0.94)
      case 'url':
        return readTokens(scan.urls, 0.94)
      case 'choice':
        return [...findChoices(scan.message, want), ...readCurrencies(scan, want)]
      case 'boolean':
        return readBooleans(scan, want)
      case 'list':
        return readLists(scan, want, place)
      case 'string':
        return readStrings(scan, want)
      case 'other':
        return []
    }
  })()
  const stated =
    want.kind === 'boolean' || want.kind === 'choice'
      ? candidates
      : candidates.filter(({ from }) => !isNegated(scan.message, from))
  return stated.map((each) => (isPlainQuestion(scan.message, each.from) ? { ...each, score: each.score * 0.7 } : each))
}
