import { at } from '#model/json'
import { isStorable, isStorableText } from '#model/storable'
import { type FieldError, invalid, problem } from '../errors.ts'
import { countKeys, findDuplicate } from './duplicate-keys.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the number of keys, or undefined if the JSON is nested too deeply. This is checked before any recursive code
 * reads the JSON.
 */
function keysIn(text: string, maxDepth: number): number | undefined {
  let depth = 0
  let keys = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (inString) {
      if (letter === 92) at++
      else if (letter === 34) inString = false
    } else if (letter === 34) inString = true
    else if (letter === 123 || letter === 91) {
      if (++depth > maxDepth) return undefined
    } else if (letter === 125 || letter === 93) depth--
    else if (letter === 58) keys++
  }
  return keys
}

/** Error messages truncate longer paths. */
const MAX_PATH_SHOWN = 500

const duplicateKey = (text: string) =>
  problem('duplicate_key', `The key at ${findDuplicate(text)?.slice(0, MAX_PATH_SHOWN)} is a duplicate.`)

/** JSON.parse reads a number beyond the largest double as infinity, which would be stored as null. */
const isTooLarge = (value: unknown): boolean => value === Infinity || value === -Infinity

function findUnstorable(value: unknown, path: string, found: FieldError[]): void {
  if (typeof value === 'string') {
    if (!isStorableText(value)) found.push({ path, message: 'contains a character that cannot be stored' })
    return
  }
  if (isTooLarge(value)) found.push({ path, message: 'is a number that is too large' })
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorableText(key)) found.push({ path, message: 'has a key that cannot be stored' })
    findUnstorable(inner, at(path, key), found)
  }
}

const contains = (value: unknown, test: (value: unknown) => boolean): boolean =>
  test(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some((inner) => contains(inner, test)))

/** Later code could take the value of this key for a prototype. */
const hasProtoKey = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')

/**
 * Matches an exponent, or as many digits as the largest double has. The lookbehind keeps the search linear in the length
 * of the text.
 */
const maybeTooLarge = /\d[eE]\+?\d|(?<!\d)\d{309}/

/** Only a text that passes this test can contain a value that cannot be stored, so most bodies need no check. */
const maybeUnstorable = (text: string): boolean =>
  text.includes('\\u') || text.includes('__proto__') || text.includes('\u0000') || maybeTooLarge.test(text)

/** Refuses values that the database cannot store when they arrive, so that no batch fails because of them later. */
export function requireStorable(value: unknown): void {
  if (contains(value, hasProtoKey)) throw problem('malformed', 'The key "__proto__" is not accepted.')
  // Nearly all values are storable, so the paths are built only for a value that is not.
  if (isStorable(value) && !contains(value, isTooLarge)) return
  const found: FieldError[] = []
  findUnstorable(value, '', found)
  if (found.length > 0) throw invalid(found.slice(0, 20))
}

/** Parses a JSON body. An empty body is `{}`. */
export function parseJson(bytes: Buffer, maxDepth: number): unknown {
  if (bytes.length === 0) return {}
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw problem('malformed', 'The body is not UTF-8.')
  }
  const keys = keysIn(text, maxDepth)
  if (keys === undefined) throw problem('too_deep', `JSON may be nested at most ${maxDepth} levels deep.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw problem('malformed', `The body is not JSON: ${(error as Error).message}.`)
  }
  if (countKeys(value) !== keys) throw duplicateKey(text)
  if (maybeUnstorable(text)) requireStorable(value)
  return value
}
