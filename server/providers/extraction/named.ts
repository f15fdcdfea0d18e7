import type { Json } from '#model/definition'
import { findChoices } from './choices.ts'
import { spend } from './effort.ts'
import type { Candidate, Place } from './index.ts'
import { isRemark, type Labelled, plainValue } from './labels.ts'
import { convert, isCounted, nounFit } from './quantities.ts'
import { fits, read, splitList } from './readers.ts'
import { type Scan, scan } from './scan.ts'
import { textWordsIn } from './text.ts'
import type { Want } from './wants.ts'

// Reads the value after a label. The label names the requirement, so the first value of the right kind is used.

type Value = { value: Json; score: number; at: number; length: number }

const agreeing =
  /^\W*(?:yes|y|yep|yeah|true|on|1|sure|ok(?:ay)?|please|checked|x|✓|needed|required|included|of course)\b/i
const refusing = /^\W*(?:no|n|nope|false|off|0|none|not|never)\b/i

const firstOf = (candidates: Candidate[]): Value | undefined => {
  const first = candidates.toSorted((a, b) => a.from - b.from || b.score - a.score)[0]
  return (
    first && {
      value: first.value,
      score: Math.min(0.97, Math.max(first.score, 0.96 * (first.score / 0.92))),
      at: first.from,
      length: first.to - first.from,
    }
  )
}

const readNumber = (text: string, link: Labelled['link'], want: Want, place: Place): Value | undefined => {
  const scanned = scan(text, place)
  const number = scanned.numbers[0]
  if (!number) return undefined
  // In "the price for 10 seats", 10 is not the price.
  const other = want.kind === 'money' ? !number.currency && isCounted(number) : nounFit(number, want, scanned) === 0
  if (link === 'bare' && other) return undefined
  if (want.moneyObject && !number.currency) return undefined
  const value = want.moneyObject ? { amount: number.value, currency: number.currency as string } : convert(number, want)
  return number.range
    ? undefined
    : { value, score: number.approximate ? 0.82 : 0.96, at: number.from, length: number.to - number.from }
}

const readText = (text: string, link: Labelled['link'], want: Want): Value | undefined => {
  const plain = plainValue(text)
  if (plain === undefined || link === 'bare' || (link === 'verb' && isRemark(plain))) return undefined
  const certain = link === 'sign' || /^[\p{Lu}\p{N}]/u.test(plain) || /^\s*["“']/.test(text)
  return fits(want, plain)
    ? { value: plain, score: certain ? 0.95 : 0.86, at: Math.max(0, text.indexOf(plain)), length: plain.length }
    : undefined
}

const readList = (text: string, link: Labelled['link'], want: Want, place: Place): Value | undefined => {
  const plain = plainValue(text)
  if (plain === undefined || link === 'bare') return undefined
  const item = want.item as Want
  const values = splitList(plain).map((part) => readValue(part, 'sign', item, place)?.value)
  if (values.length === 0 || values.includes(undefined)) return undefined
  return { value: values as Json[], score: 0.93, at: Math.max(0, text.indexOf(plain)), length: plain.length }
}

const readObject = (text: string): Value | undefined => {
  const open = text.indexOf('{')
  try {
    return open < 0
      ? undefined
      : { value: JSON.parse(text.slice(open).trim()) as Json, score: 0.95, at: open, length: text.length - open }
  } catch {
    return undefined
  }
}

const readValue = (text: string, link: Labelled['link'], want: Want, place: Place): Value | undefined => {
  if (!spend(place.effort, want.kind === 'string' ? 5 : 50 + text.length / 3)) return undefined
  switch (want.kind) {
    case 'string':
      return readText(text, link, want)
    case 'list':
      return readList(text, link, want, place)
    case 'boolean': {
      const match = agreeing.exec(text) ?? refusing.exec(text)
      return match && link !== 'bare'
        ? { value: agreeing.test(text), score: 0.95, at: match.index, length: match[0].length }
        : undefined
    }
    case 'number':
    case 'money':
      return readNumber(text, link, want, place)
    case 'choice': {
      const found = findChoices(text, textWordsIn(text), want, place.effort)
      const best = firstOf(found)
      return new Set(found.map(({ value }) => value)).size === 1 ? best : undefined
    }
    case 'other':
      return readObject(text)
    default:
      return firstOf(read(scan(text, place), { ...want, role: undefined }, place))
  }
}

const MAX_VALUE_LENGTH = 1000

/** The maximum distance between a label and the start of its value. */
const reach = { sign: 30, verb: 40, bare: 14 } as const
const leading =
  /^\s*(?:(?:of|for|to|about|on|by|at|around|from|with|until|the|a|an|no later than|my|like|roughly|approximately|will|be|it['’]s|as|in|under|number|no\.?|#)\s*)*$/i

export const readLabelled = ({ message, numbers }: Scan, label: Labelled, place: Place): Candidate | undefined => {
  const text = message.slice(label.from, Math.min(label.to, label.from + MAX_VALUE_LENGTH))
  if (/^\s*(?:is|are|was)?\s*(?:not|isn['’]t|n['’]t)\b/i.test(text) && label.want.kind !== 'boolean') return undefined
  // In "two adults, three children", the words are the counted things, not labels of the next value.
  const counted = numbers.some(({ to }) => to <= label.labelFrom && label.labelFrom - to <= 2)
  if (label.link === 'bare' && counted) return undefined
  const found = readValue(text, label.link, label.want, place)
  if (!found || found.at > reach[label.link]) return undefined
  if (label.link === 'bare' && !leading.test(text.slice(0, found.at))) return undefined
  const sure = (label.link === 'bare' ? 0.97 : 1) * (label.exact ? 1 : 0.88)
  const from = label.from + found.at
  return { from, to: from + found.length, value: found.value, score: found.score * sure, named: label.exact }
}
