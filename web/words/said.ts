import { t } from './language.ts'
import {
  checkTexts,
  expressionTexts,
  inConsoleWords,
  libraryTexts,
  noticeTexts,
  problemTexts,
  runTexts,
} from './service-texts.ts'

// What the service says, in the words and the language of the console.

type Translate = (text: string, values?: readonly unknown[]) => string
type Known = { shown: string; form: RegExp; goesOn: boolean; weight: number }

/** Longer texts are somebody's content, not a message of ours. */
const MAX_LENGTH = 1_000
const MAX_DEPTH = 3

const texts = [...problemTexts, ...runTexts, ...checkTexts, ...expressionTexts, ...libraryTexts, ...noticeTexts]

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The text that says most of itself comes first: "must be at least {0}" before "must be {0}". */
const makeKnown = (): Known[] =>
  texts
    .map((text) => ({
      shown: inConsoleWords(text),
      form: new RegExp(`^${escaped(text).replaceAll(/\\\{\d\\\}/g, '(.+?)')}$`, 's'),
      // The last value is a message itself.
      goesOn: /: \{\d\}$/.test(text) && !noticeTexts.includes(text),
      weight: text.replaceAll(/\{\d\}/g, '').length,
    }))
    .sort((a, b) => b.weight - a.weight)

let known: Known[] | undefined

export function makeSaid(translate: Translate): (text: string) => string {
  const whole = (text: string, depth: number): string => {
    known ??= makeKnown()
    for (const { shown, form, goesOn } of known) {
      const found = form.exec(text)
      if (!found) continue
      const values = found.slice(1)
      if (goesOn && depth < MAX_DEPTH) values.push(whole(values.pop()!, depth + 1))
      return translate(shown, values)
    }
    return text
  }
  return (text) => {
    if (text.length > MAX_LENGTH) return text
    const at = / \(at character (\d+)\)/.exec(text)
    const meant = /; did you mean "([^"]+)"\?$/.exec(text)
    const rest = text.slice(0, meant?.index ?? text.length).replace(at?.[0] ?? '', '')
    return [
      whole(rest, 0),
      at ? ` ${translate('(at character {0})', [at[1]])}` : '',
      meant ? translate('; did you mean "{0}"?', [meant[1]]) : '',
    ].join('')
  }
}

/** A message of the service as the console says it; any other text as it is. */
export const said = makeSaid(t)

type Notice = { kind: string; title: string; body: string | null }

/** Those of the service have a kind such as `approval.requested`; what people wrote to themselves stays as it is. */
export const saidNotice = ({ kind, title, body }: Notice): Pick<Notice, 'title' | 'body'> =>
  kind.includes('.') ? { title: said(title), body: body && said(body) } : { title, body }
