import canonicalize from 'canonicalize'
import type { Definition, Json } from './definition.ts'

/** RFC 8785: one text for equal JSON, whatever the order of its keys. */
export function canonicalText(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not JSON')
  return text
}

/** What a version's `sha256` is taken of: everything but the layout. */
export function definitionText(definition: Definition): string {
  const { layout: _layout, ...rest } = definition
  return canonicalText(rest as Json)
}
