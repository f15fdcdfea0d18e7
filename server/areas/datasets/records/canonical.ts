import { isForbiddenKey, isObject } from '#model/json'
import { isStorableText } from '#model/storable'
import { MAX_DEPTH, MAX_KEY_LENGTH, MAX_KEYS } from './limits.ts'
import { refuse } from './refused.ts'

// RFC 8785 and the rules for records in one pass: keys in the order of their UTF-16 units, numbers and strings as
// ECMAScript writes them. The tests compare it with the `canonicalize` package: the text is the same, byte for byte.

export type Canonical = {
  text: string
  /**
   * The number of keys at all levels. If it is less than the number of colons in the source, the source has a
   * duplicate key.
   */
  keys: number
}

let keys = 0

export function canonicalRecord(value: unknown): Canonical {
  if (!isObject(value)) throw refuse('record', `is ${nameOf(value)}, not an object`)
  keys = 0
  const text = writeObject(value, 1)
  return { text, keys }
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeText(value)
    case 'number':
      if (!Number.isFinite(value)) throw refuse('record', 'contains a number that is too large for JSON')
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return writeArray(value, depth + 1)
      return writeObject(value as Record<string, unknown>, depth + 1)
    default:
      throw refuse('record', `holds ${nameOf(value)}, which is not allowed in JSON`)
  }
}

function writeText(text: string): string {
  if (!isStorableText(text)) {
    throw refuse('record', 'contains a character that cannot be stored (NUL or an unpaired surrogate)')
  }
  return JSON.stringify(text)
}

function writeArray(items: unknown[], depth: number): string {
  checkDepth(depth)
  let text = '['
  for (let at = 0; at < items.length; at++) {
    if (at > 0) text += ','
    text += write(items[at], depth)
  }
  return `${text}]`
}

function writeObject(object: Record<string, unknown>, depth: number): string {
  checkDepth(depth)
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) throw refuse('record', 'contains a value that is not JSON')
  const names = Object.keys(object)
  if (depth === 1 && names.length > MAX_KEYS) throw refuse('record', `has more than ${MAX_KEYS} keys`)
  keys += names.length
  names.sort(byUnits)
  let text = '{'
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!
    if (at > 0) text += ','
    text += `${writeKey(name)}:${write(object[name], depth)}`
  }
  return `${text}}`
}

/** Compares by UTF-16 code units as RFC 8785 requires, which is how strings are compared. */
export const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export function writeKey(name: string): string {
  if (isForbiddenKey(name)) throw refuse('record', `has the key "${name}", which is not accepted`)
  if (name.length > MAX_KEY_LENGTH) throw refuse('record', `has a key of more than ${MAX_KEY_LENGTH} characters`)
  return writeText(name)
}

function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw refuse('deep', `is nested more than ${MAX_DEPTH} levels deep`)
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
