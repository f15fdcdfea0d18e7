import type { Json } from '#model/definition'
import { toStorableText } from '#model/storable'

// PostgreSQL cannot store NUL and lone surrogates. A model that writes such a character must not make the execution
// fail.

/** Parses JSON and cleans every text inside the value. */
export const readStorable = (json: string): Json =>
  JSON.parse(json, (_key, value: Json) => (typeof value === 'string' ? toStorableText(value) : value)) as Json
