// Resolves the references of a schema: to a path (`#/$defs/a`), to a name (`$anchor`), or to a part with its own
// address (`$id`). All lookups stay inside the one document; nothing outside it is ever read.

import type { Json, JsonObject } from './definition.ts'
import { isObject, own } from './json.ts'

export const REFERENCES = ['$ref', '$dynamicRef'] as const
export const ONE_SCHEMA = [
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]
export const LIST_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
export const MAP_OF_SCHEMAS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']

/** The address of a document without `$id`. */
const NO_ADDRESS = 'schema:/'
/** `checkSchema` refuses deeper parts, and no reference here finds them. */
const MAX_DEPTH = 64

export type SchemaIndex = {
  /**
   * Returns the target of a reference in a schema. `scope`: the addresses of the parts that the walk entered, outermost
   * first.
   */
  find(schema: JsonObject, keyword: (typeof REFERENCES)[number], scope: readonly string[]): Json | undefined
  /** Returns the address of the part that a schema belongs to; undefined if the whole document has one address. */
  addressOf(schema: JsonObject): string | undefined
}

const indexes = new WeakMap<object, SchemaIndex>()

export function indexOf(root: Json): SchemaIndex {
  if (!isObject(root)) return plainIndex(root)
  const known = indexes.get(root)
  if (known) return known
  const made = isPlain(root) ? plainIndex(root) : fullIndex(root)
  indexes.set(root, made)
  return made
}

/** Checks whether a schema has no `$id` or anchor. Most schemas have none: their references are paths. */
function isPlain(root: JsonObject): boolean {
  for (const schema of schemasIn(root))
    if (['$id', '$anchor', '$dynamicAnchor'].some((keyword) => typeof own(schema, keyword) === 'string')) return false
  return true
}

function plainIndex(root: Json): SchemaIndex {
  const targets = new Map<string, Json | undefined>()
  return {
    addressOf: () => undefined,
    find(schema, keyword) {
      const reference = own(schema, keyword)
      if (typeof reference !== 'string') return undefined
      if (!targets.has(reference)) targets.set(reference, resolvePointer(root, reference))
      return targets.get(reference)
    },
  }
}

function fullIndex(root: JsonObject): SchemaIndex {
  const addresses = new Map<JsonObject, string>()
  const parts = new Map<string, JsonObject>()
  const anchors = new Map<string, JsonObject>()
  const dynamic = new Map<string, JsonObject>()
  const visit = (schema: JsonObject, base: string, depth: number): void => {
    const id = own(schema, '$id')
    const address = typeof id === 'string' ? (absolute(id, base) ?? base) : base
    addresses.set(schema, address)
    if (!parts.has(address)) parts.set(address, schema)
    for (const [keyword, names] of [
      ['$anchor', anchors],
      ['$dynamicAnchor', dynamic],
    ] as const) {
      const name = own(schema, keyword)
      if (typeof name === 'string') names.set(`${address}#${name}`, schema)
    }
    if (depth < MAX_DEPTH) for (const inner of childrenOf(schema)) visit(inner, address, depth + 1)
  }
  visit(root, NO_ADDRESS, 0)

  return {
    addressOf: (schema) => addresses.get(schema),
    find(schema, keyword, scope) {
      const reference = own(schema, keyword)
      if (typeof reference !== 'string') return undefined
      const full = absolute(reference, addresses.get(schema) ?? NO_ADDRESS, true)
      if (full === undefined) return undefined
      const [address = '', fragment = ''] = full.split('#')
      const part = parts.get(address)
      if (fragment === '' || fragment.startsWith('/')) return part && resolvePointer(part, `#${fragment}`)
      const target = anchors.get(full) ?? dynamic.get(full)
      if (keyword === '$ref' || !dynamic.has(full)) return target
      // The outermost part with an anchor of this name decides.
      for (const outer of scope) {
        const chosen = dynamic.get(`${outer}#${fragment}`)
        if (chosen) return chosen
      }
      return target
    },
  }
}

function absolute(reference: string, base: string, withFragment = false): string | undefined {
  if (!URL.canParse(reference, base)) return undefined
  const url = new URL(reference, base)
  const { hash } = url
  url.hash = ''
  const address = url.href.replace(/#$/, '')
  return withFragment && hash.length > 1 ? `${address}${decode(hash) ?? hash}` : address
}

function* childrenOf(schema: JsonObject): Generator<JsonObject> {
  for (const keyword of ONE_SCHEMA) {
    const inner = own(schema, keyword)
    if (isObject(inner)) yield inner
  }
  for (const keyword of LIST_OF_SCHEMAS) {
    const list = own(schema, keyword)
    if (Array.isArray(list)) for (const inner of list) if (isObject(inner)) yield inner
  }
  for (const keyword of MAP_OF_SCHEMAS) {
    const map = own(schema, keyword)
    if (isObject(map)) for (const inner of Object.values(map)) if (isObject(inner)) yield inner
  }
}

function* schemasIn(schema: JsonObject, depth = 0): Generator<JsonObject> {
  yield schema
  if (depth < MAX_DEPTH) for (const inner of childrenOf(schema)) yield* schemasIn(inner, depth + 1)
}

/** Returns the target of a reference such as `#/$defs/address` within `root`. */
export function resolvePointer(root: Json, reference: string): Json | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let current: Json | undefined = root
  for (const part of reference.slice(2).split('/')) {
    const key = decode(part)?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (key === undefined || typeof current !== 'object' || current === null) return undefined
    current = Array.isArray(current) ? (/^\d{1,9}$/.test(key) ? current[Number(key)] : undefined) : own(current, key)
  }
  return typeof current === 'boolean' || isObject(current) ? current : undefined
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
