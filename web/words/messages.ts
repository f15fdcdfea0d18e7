import { makeMoneyFormatter } from '#model/money-text'
import { inConsoleWords, makeMessageTranslator as makeSaying, type Translate } from '#model/translate-messages'
import { language, t } from './language.ts'
import { checkTexts, expressionTexts, libraryTexts, problemTexts, runTexts, stepTexts } from './service-texts.ts'

// The messages of the service, in the words and the language of the console.

const texts = [...problemTexts, ...runTexts, ...stepTexts, ...checkTexts, ...expressionTexts, ...libraryTexts]

export function makeConsoleTranslator(translate: Translate, language: string): (text: string) => string {
  const say = makeSaying(translate, texts, inConsoleWords, makeMoneyFormatter(language))
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

/** Translates a message of the service; any other text is unchanged. */
export const translateMessage = makeConsoleTranslator(t, language)

type Notice = { kind: string; title: string; body: string | null }

/**
 * Translates a notice. Notices of the service have a kind such as `approval.requested`; texts written by people are
 * unchanged.
 */
export const translateNotice = ({ kind, title, body }: Notice): Pick<Notice, 'title' | 'body'> =>
  kind.includes('.') ? { title: translateMessage(title), body: body && translateMessage(body) } : { title, body }
