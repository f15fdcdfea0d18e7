import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FieldError, invalid } from '../errors.ts'

// Sorted SHA-256 prefixes of about 18,000 common passwords (scripts/common-passwords.mjs). With 6 bytes, the chance
// that an uncommon password is refused is below one in 10^10. The list is read when the first password is set and then
// kept in memory: 108 KB.

const PREFIX_BYTES = 6
let prefixes: Buffer | undefined

const loaded = (): Buffer => (prefixes ??= readFileSync(join(import.meta.dirname, 'common-passwords.bin')))

const fold = (text: string): string => text.normalize('NFKC').trim().toLowerCase()

/** Checks whether the password is on the list of common passwords, ignoring letter case. */
export function isCommonPassword(password: string): boolean {
  const list = loaded()
  const wanted = createHash('sha256').update(fold(password)).digest().subarray(0, PREFIX_BYTES)
  let low = 0
  let high = list.length / PREFIX_BYTES - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const order = wanted.compare(list, middle * PREFIX_BYTES, (middle + 1) * PREFIX_BYTES)
    if (order === 0) return true
    if (order < 0) high = middle - 1
    else low = middle + 1
  }
  return false
}

/** Returns why a person should not use this password, or undefined if there is no known reason. */
export function weaknessOf(password: string, person: { email: string; name: string }): string | undefined {
  if (isCommonPassword(password)) return 'is one of the most common passwords; choose another'
  const folded = fold(password)
  const own = [person.email, person.email.split('@')[0]!, person.name].map(fold)
  return own.includes(folded) ? 'must not be your e-mail address or your name' : undefined
}

/**
 * Refuses a weak password with 422 at `path`. Uses only what the caller sent, so the answer does not reveal which
 * accounts exist.
 */
export function refuseWeakPassword(path: string, password: string, person: { email: string; name: string }): void {
  const message = weaknessOf(password, person)
  const errors: FieldError[] = message === undefined ? [] : [{ path, message }]
  if (errors.length > 0) throw invalid(errors)
}
