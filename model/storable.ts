import type { Json } from './definition.ts'
import { isObject } from './json.ts'

// PostgreSQL can store neither NUL nor half a surrogate pair. Values from outside are refused when they arrive, and
// outputs of nodes when they are serialized. Only an expression can still create such a text. Texts that only inform,
// such as error messages and responses of other servers, are cleaned instead.

/** Containers with more entries are not searched again when a later value refers to them. */
const REMEMBER_FROM = 32

/** Containers without such text. Values of an execution never change after their creation. */
const clean = new WeakSet<object>()

export const isStorableText = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

/** Checks whether all texts of a JSON value, also its keys, can be stored. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null || clean.has(value)) return true
  const entries = Array.isArray(value) ? value : Object.values(value)
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return false
  for (const entry of entries) if (!isStorable(entry)) return false
  if (entries.length > REMEMBER_FROM) clean.add(value)
  return true
}

/** Removes what cannot be stored. Cuts after `longest` characters, but never through a surrogate pair. */
export function toStorableText(text: string, longest = Number.POSITIVE_INFINITY): string {
  const whole = text.replaceAll('\u0000', '').toWellFormed()
  if (whole.length <= longest) return whole
  const cut = whole.slice(0, longest)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

/** Returns the value without the characters that cannot be stored. For texts from outside that no caller can correct. */
export function toStorable(value: Json): Json {
  if (typeof value === 'string') return toStorableText(value)
  if (Array.isArray(value)) return value.map(toStorable)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [toStorableText(key), toStorable(inner)]))
}
