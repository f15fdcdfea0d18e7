import { type Effort, spend } from './effort.ts'
import type { Span } from './index.ts'
import { before, contentStems, matches, nearly, phrasesIn, stemOf, type TextWords, type Word } from './text.ts'
import type { Want } from './wants.ts'

// Finds "name: value", "name = value" and "the name is value", and the end of such a value.

export type Labelled = Span & {
  want: Want
  /** `sign`: a colon or an equals sign; `verb`: "is", "should be"; `bare`: the value follows directly. */
  link: 'sign' | 'verb' | 'bare'
  labelFrom: number
  exact: boolean
}

// Without these limits, a message that repeats a name a thousand times would be read a thousand times.
const MAX_MENTIONS = 8
const MAX_LABELS = 200

type Mention = Span & { want: Want; exact: boolean }

const sign = /^(?:\s*\([^)\n]{0,30}\))?\s*(?::|=|→|->|\s[-–—]\s)\s*/
const verb =
  /^\s*(?:is|are|was|will be|would be|should be|shall be|must be|has to be|needs to be|can be|=|equals|to be|remains|'s|’s)\s+(?:going to be\s+|gonna be\s+)?/i
const hash = /^\s*#(?=\d)/
const changeTo = /^\s+(?:to|into)\s+/i
const otherLabel = /(?:^|[\n,;.]\s*|\s\/\s|\s\|\s)(?:and\s+|my\s+|the\s+|our\s+)*[\p{L}][\p{L}\p{N}_ '-]{0,30}[:=]\s/gu

const distinctWords = ({ words, places }: TextWords): Word[] => Array.from(places.values(), ([at]) => words[at!]!)

/**
 * Returns the words of the message that name this requirement. The last word of the name is enough if no other
 * requirement contains it.
 */
const mentionsOf = (want: Want, spoken: TextWords, others: Want[], effort: Effort): Mention[] => {
  // firstName is one word in a message but two words as a name.
  const joined = [stemOf(want.requirement.name.toLowerCase())]
  const hyphenated = want.label.includes('email') ? ['e', 'mail'] : []
  const spans = [want.label, want.title, joined, hyphenated]
    .flatMap((stems) => phrasesIn(spoken, stems))
    .map((span) => ({
      ...span,
      want,
      exact: true,
    }))
  if (spans.length > 0) return spans
  const head = want.label.at(-1) as string
  const generic = new Set([
    'number',
    'date',
    'time',
    'name',
    'id',
    'code',
    'value',
    'type',
    'at',
    'no',
    'in',
    'on',
    'to',
    'out',
    'by',
    'day',
    's',
    'h',
    'm',
  ])
  const shared = others.some((other) => other !== want && (other.label.includes(head) || other.title.includes(head)))
  if (want.label.length > 1 && !shared && !generic.has(head))
    spans.push(...phrasesIn(spoken, [head]).map((span) => ({ ...span, want, exact: true })))
  if (want.label.length > 1 && spans.length === 0) {
    // Accepts "order" for order_number and "delivery" for delivery_date.
    const first = want.label.slice(0, -1)
    const taken = others.some((other) => other !== want && first.every((stem) => other.label.includes(stem)))
    if (generic.has(head) && !taken)
      spans.push(...phrasesIn(spoken, first).map((span) => ({ ...span, want, exact: false })))
  }
  if (spans.length === 0 && want.label.length === 1 && head.length >= 5)
    spans.push(
      ...distinctWords(spoken)
        .filter((word) => spend(effort, 1) && nearly(word.text.toLowerCase(), want.requirement.name.toLowerCase()))
        .map((word) => ({ from: word.from, to: word.to, want, exact: false })),
    )
  return spans
}

/** In a list of labels, as in ", email …", the next label needs no colon. */
const listed = /[,;\n]\s*(?:and\s+)?(?:my\s+|the\s+|our\s+)?$/i

/** Fields whose value may have several sentences. */
const prose = new Set(
  contentStems(
    'description message comment note reason detail text body summary question feedback content instruction request remark explanation issue problem',
  ),
)
const isProse = (want: Want): boolean => [...want.label, ...want.title].some((stem) => prose.has(stem))

const shortened = new Set(
  'dr mr mrs ms mx st ste prof no nr inc ltd co corp jr sr approx ave rd blvd dept apt ext str sgt lt capt hon rev'.split(
    ' ',
  ),
)

/**
 * Returns the end of the sentence, as in "Ada. Please send it". The dot of a title or an initial does not end a
 * sentence.
 */
const sentenceEnd = (text: string): number => {
  for (const { index } of matches(text, /[.!?](?=\s+(?:\p{Lu}|please\b|i\b|my\b|thanks?\b))/gu)) {
    const word = /[\p{L}\p{N}]*$/u.exec(text.slice(Math.max(0, index - 30), index))?.[0] ?? ''
    const goesOn = text[index] === '.' && (/^\p{L}$/u.test(word) || shortened.has(word.toLowerCase()))
    if (!goesOn) return index
  }
  return text.length
}

const endOf = (message: string, { from, link, want }: Omit<Labelled, 'to'>, next: number): number => {
  const rest = message.slice(from, next)
  const sentence = link === 'sign' && want.kind === 'string' && !isProse(want) ? sentenceEnd(rest) : rest.length
  // In "order #1042 arrived", the number ends with the word.
  const stops = [message[from - 1] === '#' ? /[\s;,?!]|[.](?=\s|$)/ : /\n|;|\s\|\s/]
  if (link !== 'sign')
    stops.push(
      /[.!?](?=\s|$)/,
      /,?\s+(?:and|but|so|because|while|for|which)\s+(?:my|the|i|i'm|our|it|its|we|his|her|their|you|please|that)\b/i,
    )
  const cut = stops.map((stop) => stop.exec(rest)?.index ?? rest.length)
  return from + Math.min(sentence, ...cut)
}

export const findLabelled = (message: string, spoken: TextWords, wants: Want[], effort: Effort): Labelled[] => {
  const mentions = wants
    .flatMap((want) => mentionsOf(want, spoken, wants, effort).slice(0, MAX_MENTIONS))
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .slice(0, MAX_LABELS)
  const foreign = matches(message, otherLabel).map((match) => match.index)
  const linked = mentions.flatMap((mention): Omit<Labelled, 'to'>[] => {
    const after = message.slice(mention.to, mention.to + 60)
    const link = sign.test(after) || hash.test(after) ? 'sign' : verb.test(after) ? 'verb' : 'bare'
    const length = (sign.exec(after) ?? hash.exec(after) ?? verb.exec(after) ?? changeTo.exec(after) ?? [''])[0].length
    return [{ want: mention.want, exact: mention.exact, link, labelFrom: mention.from, from: mention.to + length }]
  })
  return linked.map((label) => {
    const later = [
      ...linked
        .filter((other) => other.labelFrom >= label.from && other.want !== label.want)
        .filter((other) => other.link !== 'bare' || listed.test(before(message, other.labelFrom)))
        .map((other) => other.labelFrom),
      ...foreign.filter((at) => at > label.from),
    ]
    return { ...label, to: endOf(message, label, Math.min(message.length, ...later)) }
  })
}

const conjunctions = /[\s,;.|]*(?:\b(?:and|my|the|our|with|plus|also)\b[\s,]*)*$/i
const courtesy = /[\s,.!]*\b(?:please|thanks|thank you|cheers|thx)\b[\s,.!]*$/i
const unknown =
  /^(?:not? (?:sure|known|yet|idea)|unknown|i (?:don['’]?t|do not) know|tbd|tba|n\/a|none|nothing|-+|\?+|to be (?:decided|defined|confirmed|determined)|still open|undecided|pending)\b/i

const remark =
  /^(?:wrong|right|correct|incorrect|fine|ok(?:ay)?|good|bad|missing|different|the same|unchanged|private|secret|below|above|attached|as follows|important|required|outdated|old|new|invalid|here|changing|changed)\W*$/i

/** Detects a remark such as "my address is wrong", which does not state the address. */
export const isRemark = (text: string): boolean => remark.test(text.trim())

/** Returns the words of a labelled value, without words that only lead to the next value. */
export const plainValue = (text: string): string | undefined => {
  const trimmed = text
    .replace(courtesy, '')
    .replace(conjunctions, '')
    .trim()
    .replace(/^["“'](.*)["”']$/s, '$1')
    .trim()
  return trimmed === '' || unknown.test(trimmed) || /^not\b/i.test(trimmed) ? undefined : trimmed
}
