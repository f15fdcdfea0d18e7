import type { Json } from '#model/definition'

// NUL and half surrogates cannot be stored; a model that writes one must not fail the execution.

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** The same for every text inside a value. */
export const readStorable = (json: string): Json =>
  JSON.parse(json, (_key, value: Json) => (typeof value === 'string' ? storable(value) : value)) as Json
