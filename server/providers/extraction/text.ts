import type { Span } from './index.ts'

export type Word = Span & { text: string; stem: string }

const irregular: Record<string, string> = {
  people: 'person',
  children: 'child',
  men: 'man',
  women: 'woman',
  days: 'day',
}

/** Returns a deliberately crude stem. Stems are only compared with other stems. */
export const stemOf = (word: string): string => {
  const lower = word.toLowerCase().replace(/['’]s$/, '')
  const known = irregular[lower]
  if (known) return known
  if (lower.length > 4 && lower.endsWith('ies')) return `${lower.slice(0, -3)}y`
  if (lower.length > 4 && /(?:[sx]|ch|sh)es$/.test(lower)) return lower.slice(0, -2)
  if (lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss')) return lower.slice(0, -1)
  return lower
}

export const wordsOf = (text: string): Word[] =>
  Array.from(text.matchAll(/[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu), (match) => ({
    text: match[0],
    stem: stemOf(match[0]),
    from: match.index,
    to: match.index + match[0].length,
  }))

/** Splits a name into words: checkIn, check_in, check-in and "Check in" are the same two words. */
export const nameWords = (name: string): string[] =>
  wordsOf(name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/_/g, ' ')).map(({ text }) => text.toLowerCase())

const stop = new Set(
  'a an the of for to in on at by with and or is are be do does did will would should can could how many much what which who when where why whether if your you my our we i it its this that these those their please want wants need needs like have has give enter tell us me about any from as in'.split(
    ' ',
  ),
)

export const contentStems = (text: string): string[] =>
  nameWords(text)
    .filter((word) => !stop.has(word) && word.length > 1)
    .map(stemOf)

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(Math.min((previous[j - 1] as number) + same, (previous[j] as number) + 1, (row[j - 1] as number) + 1))
      if (swapped && same) row[j] = Math.min(row[j] as number, previous[j - 1] as number)
    }
    previous = row
  }
  return previous[b.length] as number
}

/**
 * Checks for a misspelling: one wrong letter in words of four or more letters, two in words of eight or more. The first
 * letter must be right.
 */
export const nearly = (word: string, wanted: string): boolean => {
  const allowed = wanted.length >= 8 ? 2 : wanted.length >= 4 ? 1 : 0
  return (
    allowed > 0 &&
    word[0] === wanted[0] &&
    Math.abs(word.length - wanted.length) <= allowed &&
    editDistance(word, wanted) <= allowed
  )
}

// Messages are read on the thread that serves all requests, so the cost must be linear in the length. Only the sixty
// characters before a position are examined, and only the first forty repetitions of anything count.

const NEAR = 60
const MOST = 40

export const before = (text: string, at: number): string => text.slice(Math.max(0, at - NEAR), at)

export const matches = (text: string, pattern: RegExp): RegExpExecArray[] => {
  const found: RegExpExecArray[] = []
  for (const match of text.matchAll(pattern)) {
    found.push(match)
    if (found.length === MOST) break
  }
  return found
}

/** The words of a text, and the positions of each stem. */
export type TextWords = { words: Word[]; places: Map<string, number[]> }

export const textWordsIn = (text: string): TextWords => {
  const words = wordsOf(text)
  const places = new Map<string, number[]>()
  for (const [at, { stem }] of words.entries()) {
    const known = places.get(stem)
    if (!known) places.set(stem, [at])
    else if (known.length < MOST) known.push(at)
  }
  return { words, places }
}

/** Finds these words in sequence, compared by stem. */
export const phrasesIn = ({ words, places }: TextWords, stems: string[]): Span[] => {
  const starts = places.get(stems[0] ?? '') ?? []
  return starts.flatMap((at) => {
    const last = words[at + stems.length - 1]
    return last && stems.every((stem, j) => words[at + j]?.stem === stem)
      ? [{ from: words[at]!.from, to: last.to }]
      : []
  })
}

const FILLER = '\u0001'

/**
 * Replaces the ranges that one reader has used with filler of the same length, so that the next reader does not see
 * them.
 */
export const hide = (text: string, spans: Span[]): string =>
  spans.reduce((current, { from, to }) => current.slice(0, from) + FILLER.repeat(to - from) + current.slice(to), text)

export const overlaps = (a: Span, b: Span): boolean => a.from < b.to && b.from < a.to

const negation =
  /\b(?:not|never|except|excluding|without|isn['’]?t|aren['’]?t|wasn['’]?t|don['’]?t|doesn['’]?t|can['’]?t|cannot|instead of|rather than|other than|no longer)\b[^.,;!?\n]{0,24}$/i
const reversal = /\bbut\b|\bhowever\b|\bjust\b|\bonly\b|\bis\b|\bare\b|\bforget\b/i

const allBut = /\b(?:any\w*|every\w*|all)\b[\w\s]{0,15}\bbut\s+(?:on\s+|the\s+)?$/i

/** Detects "not on Friday" and "anything but red". In "not red but blue", only red is negated. */
export const isNegated = (message: string, at: number): boolean => {
  const earlier = before(message, at)
  const negated = negation.exec(earlier)
  return allBut.test(earlier) || (negated !== null && !reversal.test(negated[0]))
}

const MAX_SENTENCE_LENGTH = 400

/** Returns the sentence around a position, with its closing punctuation mark. */
const sentenceAt = (message: string, at: number): string => {
  const from = Math.max(0, at - MAX_SENTENCE_LENGTH)
  const earlier = message.slice(from, at)
  const starts = ['. ', '? ', '! ', '\n'].map((mark) => {
    const found = earlier.lastIndexOf(mark)
    return found < 0 ? from : from + found + mark.length
  })
  const later = message.slice(at, at + MAX_SENTENCE_LENGTH)
  const end = /[.!?](?=\s|$)|\n/.exec(later)
  return message.slice(Math.max(...starts), at + (end ? end.index + 1 : later.length))
}

const asksForAction =
  /^(?:hi|hello|hey|ok|okay|so|and|,|\s)*(?:can|could|would|will|may|might|shall|please|how about|what about|is it possible|do you have|any chance|i(?:'d| would| want| need))\b/i

/** "Is it due on Friday?" states no value; "Could you come on Friday?" does. */
export const isPlainQuestion = (message: string, at: number): boolean => {
  const sentence = sentenceAt(message, at).trim()
  return sentence.endsWith('?') && !asksForAction.test(sentence)
}

const correction =
  /\b(?:sorry|actually|i mean|i meant|no,? wait|wait|make (?:that|it)|correction|scratch that|or rather|rather|no,)\b/i

/** Detects a correction: in "five, sorry, six", the second value replaces the first. */
export const isCorrected = (message: string, first: Span, second: Span): boolean =>
  first.to <= second.from && second.from - first.to < 60 && correction.test(message.slice(first.to, second.from))
