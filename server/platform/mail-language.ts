import type { MailText } from '#model/mail-texts'
import { inConsoleWords, makeSaid, withValues } from '#model/said'
import catalogues from './mail-words.generated.json' with { type: 'json' }

// Mails are in the language that the person chose, or that of the page that asked for them: what is ours in them, not what tenants wrote.

const known: Readonly<Record<string, Readonly<Record<string, string>>>> = catalogues

export const mailLanguages = ['en', ...Object.keys(known)] as [string, ...string[]]

export type MailWords = {
  language: string
  /** A text of the mail itself. */
  say(text: MailText, values?: readonly unknown[]): string
  /** A title or body that the service or a tenant wrote; the latter stays as it is. */
  notice(text: string): string
}

function wordsIn(language: string): MailWords {
  const words = known[language]
  const translate = (text: string, values: readonly unknown[] = []): string => withValues(words?.[text] ?? text, values)
  return { language, say: translate, notice: makeSaid(translate, [], inConsoleWords) }
}

const byLanguage = new Map(mailLanguages.map((language) => [language, wordsIn(language)]))

/** What a vendor calls a language, such as de-CH, among those that we have. */
export const languageOf = (locale: string | null | undefined): string | null => {
  const language = locale?.toLowerCase().split('-', 1)[0]
  return language !== undefined && byLanguage.has(language) ? language : null
}

/** English for anyone who has chosen nothing. */
export const mailWords = (language: string | null): MailWords =>
  byLanguage.get(language ?? 'en') ?? byLanguage.get('en')!
