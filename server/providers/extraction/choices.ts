import { type Effort, spend } from './effort.ts'
import type { Candidate, Span } from './index.ts'
import { isNegated, isPlainQuestion, nearly, phrasesIn, type TextWords, type Word, wordsOf } from './text.ts'
import type { Option, Want } from './wants.ts'

// Finds the chosen option of a list: by its words, by a misspelling of them, by the word that distinguishes it from the
// other options, by its letter or by its number.

const everyday = new Set([
  'other',
  'none',
  'all',
  'any',
  'no',
  'yes',
  'not',
  'in',
  'on',
  'a',
  'i',
  'it',
  'is',
  'me',
  'to',
  'do',
  'new',
  'open',
  'off',
  'one',
  'or',
  'so',
  'at',
])
const MANY_WORDS = 100
/** A message that names more options than this has chosen none. */
const MAX_SAID = 200
const COMPARISON = 4
const KEPT_FOR_WORDS = 2000
const ordinals = 'first second third fourth fifth sixth'.split(' ')

const isBareAnswer = (message: string, words: Word[], stems: string[]): boolean =>
  words.length <= stems.length + 2 && message.length < 60

/** Checks whether the word before the option names the requirement, as in "size M". */
const isNamed = (words: Word[], from: number, want: Want): boolean => {
  const last = words.findLast((word) => word.to <= from)
  return last !== undefined && (want.label.includes(last.stem) || want.title.includes(last.stem))
}

const matchOption = (message: string, spoken: TextWords, option: Option, want: Want): Candidate[] => {
  const found: Candidate[] = []
  for (const { text: name, stems } of option.names) {
    const risky =
      stems.length === 1 &&
      (everyday.has(stems[0] as string) || (stems[0] as string).length === 1 || /^\d+$/.test(stems[0] as string))
    for (const span of phrasesIn(spoken, stems)) {
      if (risky && !isBareAnswer(message, spoken.words, stems) && !isNamed(spoken.words, span.from, want)) continue
      // A single capital letter is a size or a grade; "a" and "I" are words.
      if (name.length === 1 && message.slice(span.from, span.to) !== name) continue
      found.push({ ...span, value: option.value, score: risky ? 0.85 : 0.93, named: false })
      // In a long message, one mention of an option is enough.
      if (spoken.words.length > MANY_WORDS) break
    }
  }
  return found
}

/** Finds "express" for "Express delivery" if the other option is "Standard delivery". */
const byTellingWord = ({ words, places }: TextWords, option: Option, want: Want): Candidate[] =>
  option.telling
    .filter((stem) => !everyday.has(stem) && !want.about.has(stem))
    .flatMap((stem) => places.get(stem) ?? [])
    .map((at) => words[at]!)
    .map(({ from, to }) => ({ from, to, value: option.value, score: 0.87, named: false }))

/**
 * Words by their first letter and length, as written and as stems. Only words in the same group can be misspellings of
 * each other.
 */
type Forms = Map<string, Map<string, Word>>

const formsOf = ({ words }: TextWords): Forms => {
  const forms: Forms = new Map()
  for (const word of words)
    for (const form of [word.text.toLowerCase(), word.stem]) {
      const alike = forms.get(`${form[0]}${form.length}`) ?? new Map<string, Word>()
      forms.set(`${form[0]}${form.length}`, alike.set(form, alike.get(form) ?? word))
    }
  return forms
}

const bySlip = (forms: Forms, option: Option, effort: Effort): Candidate[] => {
  const wanted = new Set(
    option.names.flatMap(({ text, stems }) =>
      stems.length === 1 ? [text.toLowerCase(), stems[0] as string] : stems.filter((stem) => stem.length > 4),
    ),
  )
  const slips = new Set<Word>()
  for (const name of wanted)
    for (let length = name.length - 2; length <= name.length + 2; length++)
      for (const [form, word] of forms.get(`${name[0]}${length}`) ?? [])
        if (form !== name) {
          if (!spend(effort, COMPARISON, KEPT_FOR_WORDS)) return []
          if (nearly(form, name)) slips.add(word)
        }
  return [...slips].map(({ from, to }) => ({ from, to, value: option.value, score: 0.78, named: false }))
}

/** Reads "option 2", "the second one", or a bare "2" in answer to a list. */
const byPlace = (message: string, want: Want): Candidate[] => {
  if (want.options.some(({ value }) => typeof value === 'number' || /^\d+$/.test(String(value)))) return []
  const match =
    /\b(?:option|choice|number|no\.?|#)\s*(\d)\b|^\s*#?(\d)[.)]?\s*$|\bthe (first|second|third|fourth|fifth|sixth|last)(?: one| option)?\b(?!\s+\p{L})/iu.exec(
      message,
    )
  if (!match) return []
  const ordinal = match[3]?.toLowerCase()
  const place =
    ordinal === 'last' ? want.options.length : ordinal ? ordinals.indexOf(ordinal) + 1 : Number(match[1] ?? match[2])
  const option = want.options[place - 1]
  return option
    ? [{ from: match.index, to: match.index + match[0].length, value: option.value, score: 0.84, named: false }]
    : []
}

const isWithin = (a: Span, b: Span): boolean => b.from <= a.from && b.to >= a.to && b.to - b.from > a.to - a.from

export const findChoices = (message: string, spoken: TextWords, want: Want, effort: Effort): Candidate[] => {
  if (!spend(effort, want.options.length + spoken.words.length / 2)) return []
  const forms = formsOf(spoken)
  const exact = new Map(want.options.map((option) => [option, matchOption(message, spoken, option, want)]))
  const phrases = [...exact.values()].flat()
  if (phrases.length > MAX_SAID) return []
  const guessed = want.options
    .filter((option) => exact.get(option)!.length === 0)
    .flatMap((option) => [...byTellingWord(spoken, option, want), ...bySlip(forms, option, effort)])
    .filter((guess) => !phrases.some((phrase) => isWithin(guess, phrase)))
  const said = [...phrases, ...guessed]
  if (said.length > MAX_SAID || !spend(effort, said.length * 5)) return []
  const found = said.filter(({ from }) => !isNegated(message, from))
  // "extra large" is not also "large": the longest match of the same words is used.
  const longest = found.filter((a) => !found.some((b) => isWithin(a, b)))
  return longest.length > 0 ? longest : byPlace(message, want)
}

const yes =
  /^\W*(?:yes|yep|yeah|yup|y(?=\s*(?:$|[.,;!]))|sure|ok|okay|of course|certainly|absolutely|definitely|please do|correct|right|true|that['’]?s right|affirmative|agreed|i do|i am|i have|i would|sounds good|go ahead|indeed)\b/i
const no =
  /^\W*(?:no|nope|nah|n(?=\s*(?:$|[.,;!]))|never|(?:i['’]?d )?rather not|not (?:really|needed|required|at all|necessary)|false|incorrect|negative|i don['’]?t|i do not|i['’]?m not|i have not|i haven['’]?t|absolutely not|no way|of course not|certainly not|definitely not|don['’]?t)\b/i

/** The same as `yes`, in German, French, Spanish and Norwegian. */
const yesElsewhere =
  /^[^\p{L}\d]*(?:jawohl|ja|gerne?|natürlich|genau|klar|oui|d['’]accord|bien sûr|volontiers|sí|si|claro|vale|por supuesto|gjerne|selvfølgelig|javisst)(?!\p{L})/iu
const noElsewhere =
  /^[^\p{L}\d]*(?:nein|nee|nö|niemals|lieber nicht|natürlich nicht|non|jamais|pas du tout|nunca|para nada|claro que no|nei|aldri|ikke nå)(?!\p{L})/iu
const dependsElsewhere =
  /(?<!\p{L})(?:aber|wenn|falls|oder|vielleicht|mais|si|ou|peut-être|pero|o|quizás|tal vez|men|hvis|eller|kanskje)(?!\p{L})/iu

/** Finds a plain yes or no at the start of the message, and its confidence. */
export const findAgreement = (message: string): Candidate | undefined => {
  const english = no.exec(message) ?? yes.exec(message)
  const refused = no.exec(message) ?? (english ? null : noElsewhere.exec(message))
  const match = refused ?? english ?? yesElsewhere.exec(message)
  if (!match) return undefined
  const rest = message.slice(match[0].length)
  if (
    (english ? /\b(?:but|unless|if|or|maybe|depends)\b/i : dependsElsewhere).test(rest) ||
    /^\s*(?:idea|clue|problem|worries|rush|matter|one)\b/i.test(rest)
  )
    return undefined
  const bare = wordsOf(rest).length <= 4
  return {
    from: match.index,
    to: match.index + match[0].length,
    value: !refused,
    score: bare ? 0.93 : 0.8,
    named: false,
  }
}

const filler = new Set(
  'is has have want wants need needs include included including should can may will do does did flag required requested with wanted needed enabled allowed like add get a an the please'.split(
    ' ',
  ),
)
const refusing =
  /\b(?:no|without|don['’]?t (?:want|need|have|require|like|include|add|bring|eat|use)|do not (?:want|need|have|require|include|add)|didn['’]?t|doesn['’]?t (?:need|want|have)|not|skip|exclude|excluding|never|no need for|not? interested in|cannot|can['’]?t|minus|hold|leave out|isn['’]?t|aren['’]?t|won['’]?t (?:need|want|have|be))\b(?:\s+(?:a|an|any|the|to|my|our|have|be|need|want|some|that|really|include|using|get)\b)*\s*$/i
const asking =
  /\b(?:with|include|including|includes|plus|add|adding|want|wants|need|needs|like|have|has|get|bring|order|is|are|am|i['’]m|we['’]re|it['’]s|require|requires|request|prefer|take|and|yes,?|yes to|subscribe (?:me )?to|sign me up for|bringing|using)\b(?:\s+(?:a|an|the|some|my|our|also|too|to|have|get|indeed|already)\b)*\s*$/i
const after =
  /^\s*(?:is |are |will be )?(?:(not|n't)\s+)?(?:included|needed|required|wanted|please|yes|too|requested|as well|necessary|necessary)\b/i
const afterNo =
  /^\s*(?:is |are |'s |isn['’]?t |aren['’]?t |not )+\s*(?:not\s+)?(?:needed|required|wanted|included|necessary)|^\s*(?::|=)?\s*no\b/i

/**
 * Reads yes or no from the way the message mentions the thing: "with breakfast", "no parking needed", "I'm a member".
 */
export const findMentioned = (message: string, spoken: TextWords, want: Want): Candidate[] => {
  const keys = [want.label, want.title]
    .map((stems) => stems.filter((stem) => !filler.has(stem)))
    .filter((stems) => stems.length > 0)
  return keys
    .flatMap((stems) => phrasesIn(spoken, stems))
    .flatMap((span): Candidate[] => {
      const before = message.slice(Math.max(0, span.from - 50), span.from)
      const rest = message.slice(span.to, span.to + 40)
      const said = { ...span, named: true }
      if (isPlainQuestion(message, span.from)) return []
      if (/^\s*(?:or|\/)\s/.test(rest)) return []
      if (refusing.test(before) || (afterNo.test(rest) && /n['’]?t\b|\bno\b|\bnot\b/i.test(rest)))
        return [{ ...said, value: false, score: 0.91 }]
      if (asking.test(before) || after.test(rest)) return [{ ...said, value: true, score: 0.9 }]
      return []
    })
}
