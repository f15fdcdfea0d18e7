import type { State } from '../state.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { no } from './no.ts'
import type { Phrases } from './phrases.ts'

// The languages are those of knowledge bases; anyone else reads English.

export type { Phrases }

const languages = new Map(Object.entries({ en, de, fr, es, no, nb: no, nn: no }))

/** The tag comes from outside: a language that is not here, or none, is English. */
export const phrasesIn = (tag: string | undefined): Phrases =>
  languages.get(tag?.split('-')[0]?.toLowerCase() ?? '') ?? en

/** In the language that the person wrote in or from last, else in that of the template. */
export const phrasesFor = ({ visit, house }: Pick<State, 'visit' | 'house'>): Phrases =>
  phrasesIn(visit?.locale ?? house ?? undefined)
