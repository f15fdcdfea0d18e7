import type { Text } from './texts.ts'

// One language for the page: chosen by the person on this device, else that of the browser. It is read before anything is
// drawn, so a change loads the page again.

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

type Catalogue = Readonly<Record<Text, string>>

/** English needs none. Each is a chunk of its own. */
const catalogues: Record<Exclude<Language, 'en'>, () => Promise<Catalogue>> = {
  de: () => import('./de.ts').then(({ de }) => de),
}

const KEY = 'heddle.language'
const isLanguage = (text: string | null | undefined): text is Language => text != null && Object.hasOwn(languages, text)

export function readLanguage(): Language {
  const kept = localStorage.getItem(KEY)
  if (isLanguage(kept)) return kept
  const [preferred] = navigator.languages
  const short = preferred?.split('-')[0]
  return isLanguage(short) ? short : 'en'
}

let catalogue: Catalogue | undefined

/** Before the first drawing. */
export async function loadLanguage(): Promise<void> {
  const language = readLanguage()
  document.documentElement.lang = language
  if (language === 'en') return
  // Without its texts the page is English, and works.
  catalogue = await catalogues[language]().catch(() => undefined)
}

export function chooseLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
  location.reload()
}

/** A text of the catalogue in the language of the page. */
export const t = (text: Text): string => catalogue?.[text] ?? text

/** What may not be in the catalogue yet, such as the label of a new page, stays English. */
export const tryText = (text: string): string =>
  (catalogue as Readonly<Record<string, string>> | undefined)?.[text] ?? text
