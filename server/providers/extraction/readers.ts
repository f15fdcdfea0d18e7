import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { findAgreement, findChoices, findMentioned } from './choices.ts'
import { spend } from './effort.ts'
import type { Candidate, Place } from './index.ts'
import { readDays, readMoments, readTimes } from './moments.ts'
import { readCurrencies, readMoney, readNumbers } from './quantities.ts'
import type { Scan } from './scan.ts'
import { findStrings } from './strings.ts'
import { isNegated, isPlainQuestion, matches } from './text.ts'
import type { Want } from './wants.ts'

// For every kind of requirement, finds the parts of the message that could be its value, and how well each fits.

export const fits = (want: Want, value: Json): boolean =>
  want.requirement.schema === undefined || validateJson(want.schema, value).length === 0

const readTokens = (tokens: Scan['emails'], score: number): Candidate[] =>
  tokens.map(({ from, to, text, sure }) => ({ from, to, value: text, score: score * sure, named: false }))

/** Finds words that match the pattern of the schema. */
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
  const mentioned = findMentioned(scan.message, scan.spoken, want)
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

/**
 * Replaces runs of spaces, because patterns with spaces on both sides need cubic time for a run: 8 s for 2,000 spaces.
 */
export const withSingleSpaces = (text: string): string => text.replaceAll(/[^\S\n]+/g, ' ')

/** Returns the items of a list in a message: "tags: red, green and blue". */
export const splitList = (text: string): string[] =>
  withSingleSpaces(text)
    .split(/\s*(?:[,;\n]|\s+(?:and|plus|as well as)\s+|\s&\s)\s*/i)
    .map((part) => part.replace(/^(?:and|also|the)\s+/i, '').trim())
    .filter(Boolean)

/** Estimates the cost of searching the message for a value of this kind. */
const costOf = ({ message, days, times, moments, numbers }: Scan, { kind }: Want): number => {
  switch (kind) {
    case 'date':
      return days.length * 10
    case 'time':
      return times.length * 10
    case 'date-time':
      return days.length * times.length * 2 + moments.length * 30
    case 'number':
    case 'money':
      return numbers.length * 5
    case 'string':
    case 'boolean':
      return message.length / 10
    default:
      return 5
  }
}

export const read = (scan: Scan, want: Want, place: Place): Candidate[] => {
  if (!spend(place.effort, costOf(scan, want))) return []
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
        return [...findChoices(scan.message, scan.spoken, want, place.effort), ...readCurrencies(scan, want)]
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
  if (!spend(place.effort, candidates.length * 5)) return []
  const stated =
    want.kind === 'boolean' || want.kind === 'choice'
      ? candidates
      : candidates.filter(({ from }) => !isNegated(scan.message, from))
  return stated.map((each) => (isPlainQuestion(scan.message, each.from) ? { ...each, score: each.score * 0.7 } : each))
}
