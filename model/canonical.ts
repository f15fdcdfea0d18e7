import canonicalize from 'canonicalize'
import type { Definition, Json } from './definition.ts'

/** Returns the canonical JSON of RFC 8785: equal values have the same text, in any order of keys. */
export function canonicalText(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not JSON')
  return text
}

/** Returns the text that a version's `sha256` is computed from: everything but the layout. */
export function definitionText(definition: Definition): string {
  const { layout: _layout, ...rest } = definition
  return canonicalText(rest as Json)
}
