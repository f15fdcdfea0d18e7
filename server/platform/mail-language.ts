import type { MailText } from '#model/mail-texts'
import { makeMoneyFormatter } from '#model/money-text'
import { inConsoleWords, makeMessageTranslator, withValues } from '#model/translate-messages'
import catalogues from './mail-words.generated.json' with { type: 'json' }

// Mails use the language that the person chose, or the language of the page that requested them. This applies to the
// texts of the service, not to texts of tenants.

const known: Readonly<Record<string, Readonly<Record<string, string>>>> = catalogues

export const mailLanguages = ['en', ...Object.keys(known)] as [string, ...string[]]

export type MailWords = {
  language: string
  /** Translates a text of the mail itself. */
  say(text: MailText, values?: readonly unknown[]): string
  /** Translates a title or body of the service. A text of a tenant is returned unchanged. */
  notice(text: string): string
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))

function wordsIn(language: string): MailWords {
  const words = known[language]
  // A mail is not changed when it is read, so its times are in UTC. The console shows the reader's own time.
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const shown = (value: unknown): unknown => (isTime(value) ? `${times.format(new Date(value))} UTC` : value)
  const translate = (text: string, values: readonly unknown[] = []): string =>
    withValues(words?.[text] ?? text, values.map(shown))
  const notice = makeMessageTranslator(translate, [], inConsoleWords, makeMoneyFormatter(language))
  return { language, say: translate, notice }
}

const byLanguage = new Map(mailLanguages.map((language) => [language, wordsIn(language)]))

/** Returns the supported language of a locale such as de-CH, or null. */
export const languageOf = (locale: string | null | undefined): string | null => {
  const language = locale?.toLowerCase().split('-', 1)[0]
  return language !== undefined && byLanguage.has(language) ? language : null
}

/** Uses English for people who have chosen no language. */
export const mailWords = (language: string | null): MailWords =>
  byLanguage.get(language ?? 'en') ?? byLanguage.get('en')!
