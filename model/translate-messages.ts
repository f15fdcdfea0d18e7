import { composedTexts, noticeTexts, phraseTexts } from './notice-texts.ts'

// Translates the service's English messages: a text is recognised by its pattern, and its values are inserted into the
// translation.

/** Returns a text of the service in the words of the console, which uses "run" where the API uses "execution". */
export const inConsoleWords = (text: string): string =>
  text
    .replaceAll(/\b([Aa])n execution\b/g, '$1 run')
    .replaceAll(/\b([Ee])xecution(s?)\b/g, (_, first: string, end: string) => `${first === 'E' ? 'R' : 'r'}un${end}`)

export type Translate = (text: string, values?: readonly unknown[]) => string

type Known = { shown: string; form: RegExp; goesOn: boolean; isComposed: boolean; weight: number }

const MAX_DEPTH = 3
/** Longer texts are content of users, not messages of the service. */
const MAX_LENGTH = 1_000
/** Patterns with several values are matched only against short texts: the time grows with a power of the length. */
const MAX_COMPOSED_LENGTH = 400

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Sorts patterns by the length of their fixed text, the longest first: "must be at least {0}" before "must be {0}". */
const makeKnown = (forms: readonly string[], shown: (text: string) => string): Known[] =>
  forms
    .map((text) => ({
      shown: shown(text),
      form: new RegExp(`^${escaped(text).replaceAll(/\\\{\d\\\}/g, '(.+?)')}$`, 's'),
      // The last value is itself a message.
      goesOn: /: \{\d\}$/.test(text) && !noticeTexts.includes(text),
      isComposed: composedTexts.includes(text) || phraseTexts.includes(text),
      weight: text.replaceAll(/\{\d\}/g, '').length,
    }))
    .sort((a, b) => b.weight - a.weight)

export const withValues = (text: string, values: readonly unknown[]): string =>
  text.replaceAll(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)]))

/**
 * Translates notices, and `others`, whose last value can also be a message. `shown` maps a text to its key in the
 * catalogue. `formatAmount` formats a value that is an amount of money, and returns any other text unchanged.
 */
export function makeMessageTranslator(
  translate: Translate,
  others: readonly string[],
  shown: (text: string) => string,
  formatAmount: (text: string) => string,
): (text: string) => string {
  let known: { whole: Known[]; phrases: Known[] } | undefined
  const say = (text: string, depth: number, among: 'whole' | 'phrases'): string => {
    known ??= {
      whole: makeKnown([...others, ...noticeTexts, ...composedTexts], shown),
      phrases: makeKnown([...phraseTexts, ...composedTexts], shown),
    }
    for (const { shown: said, form, goesOn, isComposed } of known[among]) {
      if (isComposed && text.length > MAX_COMPOSED_LENGTH) continue
      const values = form.exec(text)?.slice(1)
      if (!values) continue
      if (isComposed && depth < MAX_DEPTH) {
        const phrases = values.map((value) => say(value, depth + 1, 'phrases'))
        return translate(said, phrases)
      }
      if (goesOn && depth < MAX_DEPTH) values.push(say(values.pop()!, depth + 1, 'whole'))
      return translate(said, values)
    }
    return among === 'phrases' ? formatAmount(text) : text
  }
  return (text) => (text.length > MAX_LENGTH ? text : say(text, 0, 'whole'))
}
