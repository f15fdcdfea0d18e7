import { credentialIdsIn } from './credential-ids.ts'
import type { Definition, Json, JsonObject } from './definition.ts'
import type { Kinds } from './graph.ts'
import { literalIds } from './graph-ids.ts'
import { at, isObject, own } from './json.ts'

// A workflow that is moved to another workspace names its resources: `{"$name": "Shop API", "kind": "credential"}`
// instead of an id.

export const nameKinds = {
  cred: 'credential',
  conn: 'connection',
  ds: 'dataset',
  kb: 'knowledge',
  chan: 'channel',
  wf: 'workflow',
  usr: 'person',
  team: 'team',
} as const
export type NamedPrefix = keyof typeof nameKinds
export type NameKind = (typeof nameKinds)[NamedPrefix]

const prefixes = new Map(Object.entries(nameKinds).map(([prefix, kind]) => [kind, prefix as NamedPrefix]))
export const prefixOf = (kind: NameKind): NamedPrefix => prefixes.get(kind)!

export type NamedId = { path: string; prefix: string; id: string }
export type Name = { path: string; kind: NameKind; name: string }

/** Returns every id of a workspace resource in the definition. */
export function idsIn(definition: Definition, kinds: Kinds): NamedId[] {
  const found = new Map<string, NamedId>()
  for (const literal of literalIds(definition, kinds)) found.set(literal.path, literal)
  for (const [index, { args }] of definition.nodes.entries())
    for (const { path, id } of credentialIdsIn(args)) {
      const where = `/nodes/${index}/args${path}`
      found.set(where, { path: where, prefix: 'cred', id })
    }
  return [...found.values()]
}

const asName = (value: Json): { $name: string; kind: NameKind } | undefined => {
  if (!isObject(value) || Object.keys(value).length !== 2) return undefined
  const [name, kind] = [own(value, '$name'), own(value, 'kind')]
  return typeof name === 'string' && prefixes.has(kind as NameKind)
    ? { $name: name, kind: kind as NameKind }
    : undefined
}

/** Yields every `{"$name", "kind"}`, at any depth. */
export function* namesIn(value: Json | undefined, path = ''): Generator<Name> {
  if (typeof value !== 'object' || value === null) return
  const named = asName(value)
  if (named) yield { path, kind: named.kind, name: named.$name }
  else for (const [key, item] of Object.entries(value)) yield* namesIn(item, at(path, key))
}

/** Returns a copy in which the values at these pointers are replaced; undefined removes a key. */
export function replaceAt(value: Json, replacements: ReadonlyMap<string, Json | undefined>, path = ''): Json {
  if (typeof value !== 'object' || value === null) return value
  const inner = (key: string | number, item: Json): Json | undefined => {
    const where = at(path, key)
    return replacements.has(where) ? replacements.get(where) : replaceAt(item, replacements, where)
  }
  if (Array.isArray(value)) return value.map((item, index) => inner(index, item) ?? null)
  const copy: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    const replaced = inner(key, item)
    if (replaced !== undefined)
      Object.defineProperty(copy, key, { value: replaced, enumerable: true, writable: true, configurable: true })
  }
  return copy
}
