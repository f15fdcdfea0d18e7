import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { nameInWords } from '#model/node-texts'

// The kind of value that a JSON Schema requires, as the form needs it.

export type FieldKind =
  | 'choice'
  | 'boolean'
  | 'number'
  | 'text'
  | 'list'
  | 'fields'
  | 'pairs'
  | 'any'
  | 'schema'
  | 'body'
  | 'cases'
  | 'condition'
  | 'quorum'
  | 'tools'

export const typesOf = (schema: JsonObject): string[] =>
  Array.isArray(schema.type) ? schema.type.map(String) : typeof schema.type === 'string' ? [schema.type] : []

const special: Record<string, FieldKind> = { cases: 'cases', condition: 'condition', quorum: 'quorum' }

export function fieldKindOf(schema: JsonObject): FieldKind {
  const byValue = special[String(schema['x-value'])]
  if (byValue) return byValue
  if (schema['x-editor'] === 'graph') return 'body'
  if (schema['x-editor'] === 'schema') return 'schema'
  if (schema['x-editor'] === 'tools') return 'tools'
  if (Array.isArray(schema.enum)) return 'choice'
  const types = typesOf(schema)
  if (types.length !== 1) return 'any'
  switch (types[0]) {
    case 'boolean':
      return 'boolean'
    case 'number':
    case 'integer':
      return 'number'
    case 'string':
      return 'text'
    case 'array':
      return 'list'
    case 'object':
      return isObject(schema.properties) ? 'fields' : 'pairs'
    default:
      return 'any'
  }
}

/**
 * Checks for `x-value`, which marks a text, a graph or a policy instead of a value: no expression is allowed in its
 * place.
 */
export const isFixed = (schema: JsonObject): boolean => schema['x-value'] !== undefined

/** Returns the initial value of a field when it is added. */
export function emptyOf(schema: JsonObject): Json {
  if (schema.default !== undefined) return schema.default
  switch (fieldKindOf(schema)) {
    case 'choice':
      return (schema.enum as Json[])[0] ?? null
    case 'boolean':
      return false
    case 'number':
      return typeof schema.minimum === 'number' ? Math.max(schema.minimum, 1) : 1
    case 'list':
    case 'cases':
    case 'tools':
      return []
    case 'fields':
      return emptyFields(schema)
    case 'pairs':
      return {}
    case 'schema':
      return { type: 'object', properties: {} }
    case 'body':
      return { nodes: [], edges: [] }
    case 'condition':
      return { $cel: 'true' }
    case 'quorum':
      return 'any'
    default:
      return firstForm(schema)
  }
}

const firstForm = (schema: JsonObject): Json => {
  const form = Array.isArray(schema.anyOf) ? schema.anyOf.find(isObject) : undefined
  return form ? emptyOf(form) : ''
}

function emptyFields(schema: JsonObject): Json {
  const properties = schema.properties as JsonObject
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return Object.fromEntries(
    required.flatMap((name) => (isObject(properties[name]) ? [[name, emptyOf(properties[name])]] : [])),
  )
}

/** Returns the schema of a list's items or of an object's additional fields. */
export const inner = (schema: JsonObject, keyword: 'items' | 'additionalProperties'): JsonObject =>
  isObject(schema[keyword]) ? schema[keyword] : {}

export const labelOf = (name: string, schema: JsonObject): string =>
  typeof schema.title === 'string' ? schema.title : nameInWords(name)

/** Returns the alternative whose type matches the value, otherwise the first. */
export function formFor(schema: JsonObject, value: Json | undefined): JsonObject {
  const forms = (Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : []).filter(
    isObject,
  )
  if (forms.length === 0) return schema
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  return forms.find((form) => typesOf(form).includes(type)) ?? forms[0]!
}

/** Checks for a party, named by kind and id: an approver or a person who may answer. */
export const isParty = (schema: JsonObject): boolean => {
  const kind = isObject(schema.properties) ? schema.properties.kind : undefined
  return (
    isObject(kind) &&
    Array.isArray(kind.enum) &&
    kind.enum.includes('user') &&
    isObject((schema.properties as JsonObject).id)
  )
}
