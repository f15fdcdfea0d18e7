import { inConsoleWords, makeSaid as makeSaying, type Translate } from '#model/said'
import { t } from './language.ts'
import { checkTexts, expressionTexts, libraryTexts, problemTexts, runTexts } from './service-texts.ts'

// What the service says, in the words and the language of the console.

const texts = [...problemTexts, ...runTexts, ...checkTexts, ...expressionTexts, ...libraryTexts]

export function makeSaid(translate: Translate): (text: string) => string {
  const say = makeSaying(translate, texts, inConsoleWords)
  return (text) => {
    const at = / \(at character (\d+)\)/.exec(text)
    const meant = /; did you mean "([^"]+)"\?$/.exec(text)
    const rest = text.slice(0, meant?.index ?? text.length).replace(at?.[0] ?? '', '')
    return [
      say(rest),
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
