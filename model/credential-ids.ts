import type { Json } from './definition.ts'
import { isExpression } from './expressions.ts'
import { at, isObject } from './json.ts'

const CREDENTIAL_ID = /^cred_[0-9a-z]{26}$/

export const isCredentialId = (text: string): boolean => CREDENTIAL_ID.test(text)

/** Yields every literal credential id in these arguments, regardless of their schema, except inside expressions. */
export function* credentialIdsIn(value: Json | undefined, path = ''): Generator<{ path: string; id: string }> {
  if (typeof value === 'string') {
    if (isCredentialId(value)) yield { path, id: value }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* credentialIdsIn(item, at(path, index))
  } else if (isObject(value) && !isExpression(value)) {
    for (const [key, item] of Object.entries(value)) yield* credentialIdsIn(item, at(path, key))
  }
}
