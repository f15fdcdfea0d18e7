import type { State } from '../state.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { no } from './no.ts'
import type { Phrases } from './phrases.ts'

// The languages of knowledge bases. Everyone else reads English.

export type { Phrases }

const languages = new Map(Object.entries({ en, de, fr, es, no, nb: no, nn: no }))

/** Returns the phrases for a language tag from outside. English if the tag is missing or unknown. */
export const phrasesIn = (tag: string | undefined): Phrases =>
  languages.get(tag?.split('-')[0]?.toLowerCase() ?? '') ?? en

/** Returns the phrases in the language of the person's last message, or of the template if it is unknown. */
export const phrasesFor = ({ visit, house }: Pick<State, 'visit' | 'house'>): Phrases =>
  phrasesIn(visit?.locale ?? house ?? undefined)
