import de from './de.json?url'

// One language for the page: the user's choice on this device, otherwise the language of the browser. Its texts are
// loaded before any other module that shows a text, because those modules import this module and it awaits the texts; a
// change reloads the page.
//
// The English texts are in the sources. The build passes each of them through `t` (`words/plugin.ts`). A language is a
// file beside this one with a translation for each text.

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

type Catalogue = Readonly<Record<string, string>>

const catalogues: Record<Exclude<Language, 'en'>, string> = { de }

const KEY = 'heddle.language'
const isLanguage = (text: string | null | undefined): text is Language => text != null && Object.hasOwn(languages, text)

export function readLanguage(): Language {
  if (typeof localStorage === 'undefined') return 'en'
  const kept = localStorage.getItem(KEY)
  if (isLanguage(kept)) return kept
  const [preferred] = navigator.languages
  const short = preferred?.split('-')[0]
  return isLanguage(short) ? short : 'en'
}

/**
 * Returns the language for messages of the service to the user: the service supports more languages than the console.
 */
export function spokenLanguage(): string {
  const kept = localStorage.getItem(KEY)
  return isLanguage(kept) ? kept : (navigator.languages[0] ?? language)
}

export const language: Language = readLanguage()

/** The locale for dates: the format of the user's country, if the browser provides it. */
export const locale: string =
  (typeof navigator === 'undefined' ? undefined : navigator.languages?.find((one) => one.split('-')[0] === language)) ??
  language

/** Loads the texts. If that fails, the page is in English and works. */
async function load(): Promise<Catalogue | undefined> {
  if (language === 'en') return undefined
  try {
    const answer = await fetch(catalogues[language])
    return answer.ok ? ((await answer.json()) as Catalogue) : undefined
  } catch {
    return undefined
  }
}

const catalogue = await load()
if (typeof document !== 'undefined') document.documentElement.lang = catalogue ? language : 'en'

/** Returns a label for use within a sentence. German nouns keep their capital. */
export const inSentence = (word: string): string => (language === 'en' ? word.toLowerCase() : word)

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(KEY, chosen)
  location.reload()
}

/** Translates a text to the language of the page. {0}, {1} … are the values, in the order of the English text. */
export function t(text: string, values: readonly unknown[] = []): string {
  const said = catalogue?.[text] ?? text
  if (values.length === 0) return said
  return said.replaceAll(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)]))
}
