import type { Json } from '#model/definition'

// PostgreSQL cannot store NUL and lone surrogates. A model that writes such a character must not make the execution
// fail.

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Parses JSON and cleans every text inside the value in the same way. */
export const readStorable = (json: string): Json =>
  JSON.parse(json, (_key, value: Json) => (typeof value === 'string' ? storable(value) : value)) as Json
