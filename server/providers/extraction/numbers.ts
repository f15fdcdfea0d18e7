import type { Span } from './index.ts'
import { before, matches, wordsOf } from './text.ts'

// Reads numbers as people write them: 1,234.50 · 1.234,50 · 3k · 1.5 million · twenty-five · a dozen · half a million.

export type FoundNumber = Span & {
  value: number
  /** The counted or measured thing: the words after the number, up to the next punctuation mark. */
  noun: string[]
  /** "one", "a couple": used only if the message says what is counted. */
  weak: boolean
  approximate: boolean
  percent: boolean
  currency?: string
  /** One end of "5 or 6" or "100 to 200", or the number that "10 → 12" replaces. It is not a value by itself. */
  range: boolean
}

const units: Record<string, number> = {}
'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
  .split(' ')
  .forEach((word, value) => {
    units[word] = value
  })
const tens: Record<string, number> = {
  twenty: 20,
  thirty: 30,
  forty: 40,
  fourty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
}
const scales: Record<string, number> = {
  hundred: 100,
  thousand: 1000,
  grand: 1000,
  million: 1e6,
  billion: 1e9,
  dozen: 12,
}
const suffixes: Record<string, number> = { k: 1e3, K: 1e3, M: 1e6, mn: 1e6, bn: 1e9, B: 1e9 }

const signs: Record<string, string> = { '€': 'EUR', $: 'USD', '£': 'GBP', '¥': 'JPY', '₹': 'INR' }
const currencyWords: Record<string, string> = {
  euro: 'EUR',
  euros: 'EUR',
  dollar: 'USD',
  dollars: 'USD',
  bucks: 'USD',
  pound: 'GBP',
  pounds: 'GBP',
  quid: 'GBP',
  yen: 'JPY',
  rupees: 'INR',
  francs: 'CHF',
  kronor: 'SEK',
  kroner: 'NOK',
  zloty: 'PLN',
}
const currencyCodes = 'EUR USD GBP CHF JPY INR SEK NOK DKK PLN CZK CAD AUD NZD BRL MXN CNY SGD HKD ZAR'.split(' ')

const currencyOf = (word: string): string | undefined =>
  currencyWords[word.toLowerCase()] ?? currencyCodes.find((code) => code === word.toUpperCase())

/**
 * If both separators occur, the last one is the decimal separator. A single comma followed by three digits groups
 * thousands.
 */
const readDigits = (digits: string): number => {
  const comma = digits.lastIndexOf(',')
  const dot = digits.lastIndexOf('.')
  if (comma >= 0 && dot >= 0) {
    const [group, decimal] = comma > dot ? ['.', ','] : [',', '.']
    return Number(digits.replaceAll(group as string, '').replace(decimal as string, '.'))
  }
  if (comma >= 0)
    return /^\d{1,3}(?:,\d{3})+$/.test(digits) ? Number(digits.replaceAll(',', '')) : Number(digits.replace(',', '.'))
  return /^\d{1,3}(?:\.\d{3}){2,}$/.test(digits) ? Number(digits.replaceAll('.', '')) : Number(digits)
}

const numeral =
  /(?<![\p{L}\p{N}_.,/:])(?<!\p{L}[-#])([€$£¥₹]\s?)?([-−+]?)(\d+(?:[.,]\d+)*)(?:\s?(k|K|M|mn|bn|B)(?![\p{L}\p{N}]))?(?![\p{L}\p{N}]*[\p{N}@/:])(?:\s?([Mm]illion|[Bb]illion|[Tt]housand|[Hh]undred|grand|dozen)\b)?(\s?[€£$¥])?(\s?%|\s?percent\b|\s?per cent\b)?/gu

const about =
  /\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca\.?|some|maybe|perhaps|probably|up to|at most|at least|more than|less than|over|under|~)\s*(?:[€$£]\s?)?$/i

const nounAfter = (text: string, to: number): string[] => {
  const after = /^[\s-]*((?:\p{L}+(?:['’-]\p{L}+)?[ ]?){0,4})/u.exec(text.slice(to, to + 60))
  return wordsOf(after?.[1] ?? '').map((word) => word.text.toLowerCase())
}

const finish = (text: string, span: Span, value: number, more: Partial<FoundNumber>): FoundNumber => {
  const noun = nounAfter(text, span.to)
  const currency = more.currency ?? (noun[0] ? currencyOf(noun[0]) : undefined)
  return {
    ...span,
    value,
    noun,
    weak: false,
    range: false,
    percent: false,
    approximate: about.test(text.slice(Math.max(0, span.from - 20), span.from)),
    ...more,
    ...(currency ? { currency } : {}),
  }
}

/** Finds numbers written in digits. In "flight LH 123" the number is part of a name. */
const findNumerals = (text: string): FoundNumber[] =>
  matches(text, numeral)
    .map((match) => {
      const [whole, sign, minus, digits, suffix, scale, sign2, percent] = match
      const span = { from: match.index, to: match.index + whole.trimEnd().length }
      const earlier = text.slice(Math.max(0, match.index - 5), match.index).trim()
      const code = currencyCodes.find(
        (each) => earlier.toUpperCase().endsWith(each) && !/\p{L}$/u.test(earlier.slice(0, -3)),
      )
      const currency = signs[(sign ?? sign2 ?? '').trim()] ?? code
      const value =
        readDigits(digits as string) * (suffixes[suffix ?? ''] ?? 1) * (scales[scale?.toLowerCase() ?? ''] ?? 1)
      const signed = Math.round((minus && minus !== '+' ? -value : value) * 1e6) / 1e6
      return finish(text, span, signed, { percent: Boolean(percent), ...(currency ? { currency } : {}) })
    })
    .filter(({ value }) => Number.isFinite(value))
    .filter(
      (number) => number.currency !== undefined || !/(?<![\p{L}\p{N}])\p{Lu}{2,4}\s?$/u.test(before(text, number.from)),
    )

const MAX_WRITTEN = 60

const findWritten = (text: string): FoundNumber[] => {
  const found: FoundNumber[] = []
  const words = wordsOf(text.replace(/-/g, ' '))
  let i = 0
  while (i < words.length && found.length < MAX_WRITTEN) {
    const read = readWords(words.slice(i, i + 12).map((word) => word.text.toLowerCase()))
    const first = words[i] as Span
    if (!read) {
      i++
      continue
    }
    const last = words[i + read.length - 1] as Span
    // A single "one" is weak, as in "one of", "this one" or "no one".
    const weak = read.weak || (read.length === 1 && read.value <= 1)
    const minus = /\bminus\s+$/i.test(before(text, first.from))
    found.push(finish(text, { from: first.from, to: last.to }, minus ? -read.value : read.value, { weak }))
    i += read.length
  }
  return found
}

type Read = { value: number; length: number; weak: boolean }

const readWords = (words: string[]): Read | undefined => {
  const [first, second, third] = words
  if (first === 'half' && second === 'a' && (third === 'million' || third === 'dozen'))
    return { value: (scales[third] as number) / 2, length: 3, weak: false }
  if (first === 'a' && second === 'couple') return { value: 2, length: 2, weak: true }
  if (first === 'a' && second !== undefined && second in scales)
    return { value: scales[second] as number, length: 2, weak: false }
  let total = 0
  let current = 0
  let length = 0
  let smallest = Number.POSITIVE_INFINITY
  for (const [i, word] of words.entries()) {
    const unit = units[word]
    const ten = tens[word]
    const scale = scales[word]
    if (unit !== undefined && smallest > 9 && (smallest !== 20 || unit < 10) && (unit > 0 || length === 0)) {
      current += unit
      smallest = 0
    } else if (ten !== undefined && smallest > 20) {
      current += ten
      smallest = 20
    } else if (scale !== undefined && length > 0) {
      current = (current || 1) * scale
      if (scale >= 1000) [total, current] = [total + current, 0]
      smallest = Number.POSITIVE_INFINITY
    } else if (
      word === 'and' &&
      i > 0 &&
      scales[words[i - 1] as string] &&
      (words[i + 1] as string) in { ...units, ...tens }
    ) {
      continue
    } else break
    length = i + 1
  }
  return length === 0 ? undefined : { value: total + current, length, weak: false }
}

const joins = /^[\s€$£]*(?:or|to|-|–|—|bis|\/)[\s€$£]*$/i

const isRange = (text: string, first: FoundNumber, second: FoundNumber): boolean => {
  const between = text.slice(first.to, Math.min(second.from, first.to + 20))
  if (second.from - first.to > 20) return false
  const opened = /\b(?:between|from|either)\s+[€$£]?\s?$/i.test(before(text, first.from))
  return joins.test(between) || (opened && /^[\s€$£]*(?:and|to|or)[\s€$£]*$/i.test(between))
}

export const findNumbers = (text: string): FoundNumber[] => {
  const numerals = findNumerals(text)
  const written = findWritten(text).filter(
    (word) => !numerals.some((number) => number.from < word.to && word.from < number.to),
  )
  const all = [...numerals, ...written].sort((a, b) => a.from - b.from)
  return all.map((number, i) => {
    const [previous, next] = [all[i - 1], all[i + 1]]
    const scale = previous && /^\s*(?:out of|\/)\s*$/i.test(text.slice(previous.to, number.from))
    const joined = (previous && isRange(text, previous, number)) || (next && isRange(text, number, next))
    const replaced = next && /^\s*(?:→|->|=>)\s*$/.test(text.slice(number.to, next.from))
    return { ...number, range: Boolean(scale || joined || replaced) }
  })
}

/** Units of each dimension, as multiples of one base unit. */
const dimensions: Record<string, Record<string, number>> = {
  time: {
    second: 1,
    sec: 1,
    s: 1,
    minute: 60,
    min: 60,
    hour: 3600,
    hr: 3600,
    h: 3600,
    day: 86_400,
    night: 86_400,
    week: 604_800,
  },
  long_time: { month: 1, year: 12, yr: 12 },
  mass: {
    g: 1,
    gram: 1,
    kg: 1000,
    kilo: 1000,
    kilogram: 1000,
    lb: 453.592_37,
    pound: 453.592_37,
    ton: 1e6,
    tonne: 1e6,
  },
  length: {
    mm: 0.001,
    cm: 0.01,
    m: 1,
    meter: 1,
    metre: 1,
    km: 1000,
    kilometer: 1000,
    kilometre: 1000,
    mile: 1609.344,
    inch: 0.0254,
    ft: 0.3048,
    feet: 0.3048,
  },
  data: { mb: 1, gb: 1000, tb: 1e6 },
}

export type Unit = { dimension: string; size: number; name: string }

export const unitOf = (word: string | undefined): Unit | undefined => {
  if (!word) return undefined
  const lower = word.toLowerCase()
  for (const [dimension, sizes] of Object.entries(dimensions)) {
    for (const name of [lower, lower.replace(/s$/, '')]) {
      const size = Object.hasOwn(sizes, name) ? sizes[name] : undefined
      if (size !== undefined) return { dimension, size, name }
    }
  }
  return undefined
}
