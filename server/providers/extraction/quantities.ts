import type { Candidate } from './index.ts'
import { type FoundNumber, unitOf } from './numbers.ts'
import type { Scan } from './scan.ts'
import { before, stemOf } from './text.ts'
import type { Want } from './wants.ts'

// Decides which number is meant: by the counted thing, by the unit, or because the message contains little else.

const groups = [
  'person people guest attendee participant adult visitor seat pax traveler traveller passenger employee user member party headcount us',
  'night day stay',
  'ticket seat pass',
  'item unit piece copy product quantity',
  'room bedroom',
  'child kid',
  'temperature degree celsius fahrenheit',
].map((group) => new Set(group.split(' ').map(stemOf)))

const kids = ['child', 'children', 'kid', 'baby', 'babies'].map(stemOf)
const isApart = ({ spoken }: Scan): boolean =>
  spoken.places.has(stemOf('adult')) && kids.some((kid) => spoken.places.has(kid))

const generic = new Set(
  ['number', 'quantity', 'count', 'amount', 'qty', 'value', 'total', 'size', 'how', 'many'].map(stemOf),
)

const related = (stem: string, about: Set<string>): boolean =>
  about.has(stem) || groups.some((group) => group.has(stem) && [...about].some((word) => group.has(word)))

const partOfName =
  /\b(?:room|page|floor|version|windows|gate|flight|chapter|level|line|step|unit|apartment|suite|extension|terminal|seat|row|ending in|ends in|ending with)\s+(?:no\.?|number)?\s*$/i

/**
 * Checks whether the message contains little more than a number. In longer messages, a number alone may be a room, a
 * year or a version.
 */
const isBare = ({ spoken }: Scan): boolean => spoken.words.length <= 6

/**
 * Returns 1 if the message counts exactly this, 0.7 if it does not say what it counts, 0 if it counts something else.
 */
export const nounFit = (number: FoundNumber, want: Want, scan: Scan): number => {
  const { message } = scan
  const stems = number.noun.slice(0, 3).map(stemOf)
  const narrow = new Set([...want.label, ...want.title])
  // "four adults and two kids" are six people, so neither four nor two is the number of people.
  if ([stemOf('adult'), ...kids].includes(stems[0] ?? '') && !narrow.has(stems[0]!) && isApart(scan)) return 0
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
  return isBare(scan) && !partOfName.test(before(message, number.from)) ? 0.85 : 0
}

export const convert = (number: FoundNumber, want: Want): number => {
  const unit = unitOf(number.noun[0])
  if (!want.unit || !unit || unit.dimension !== want.unit.dimension) return number.value
  return Math.round(((number.value * unit.size) / want.unit.size) * 1e6) / 1e6
}

export const readNumbers = (scan: Scan, want: Want): Candidate[] =>
  scan.numbers.flatMap((number): Candidate[] => {
    const fit = nounFit(number, want, scan)
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

export const readMoney = (scan: Scan, want: Want): Candidate[] =>
  scan.numbers.flatMap((number): Candidate[] => {
    if (number.weak || number.percent || number.range) return []
    const fit = number.currency ? 0.97 : isBare(scan) && !isCounted(number) ? 0.82 : 0
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

/** Reads the currency. A currency does not use up the words of its amount, because the two are separate values. */
export const readCurrencies = (scan: Scan, want: Want): Candidate[] => {
  const codes = new Set(scan.numbers.flatMap(({ currency }) => currency ?? []))
  return scan.numbers.flatMap(({ to, currency }): Candidate[] => {
    const option = want.options.find(({ value }) => value === currency)
    return option && codes.size === 1 ? [{ from: to, to, value: option.value, score: 0.93, named: false }] : []
  })
}
