import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { compilePattern } from '#model/pattern'
import { lookUp } from './references.ts'

// Converts schemas of OpenAPI 2, 3.0 and 3.1 to JSON Schemas for forms, with references expanded and only the keywords
// that we support. Omitted keywords make a schema accept more, never less: the vendor validates in the end.

const MAX_PARTS = 2_500
const MAX_BYTES = 48 * 1024
const DEPTHS = [9, 6, 4, 3, 2, 1]
const MAX_TEXT = 300
const MAX_ENUM = 500

export const FILE_OR_TEXT: JsonObject = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      title: 'File',
      properties: { $file: { type: 'object', properties: { file_id: { type: 'string' } }, required: ['file_id'] } },
      required: ['$file'],
      additionalProperties: false,
    },
  ],
}

const TYPES: ReadonlySet<Json> = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])
const FORMATS: ReadonlySet<Json> = new Set(['date', 'date-time', 'email', 'uri', 'uuid'])
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

class TooLarge extends Error {}

export const shortText = (text: Json | undefined, most = MAX_TEXT): string =>
  typeof text === 'string'
    ? text
        .replace(/[^\P{Cc}\n\t]/gu, '')
        .trim()
        .slice(0, most)
        .toWellFormed()
    : ''

type Walk = { document: JsonObject; parts: number; isFileAllowed: boolean }

/**
 * Returns a schema that is as deep as the size limit permits. A schema that grows too large is cut off at a smaller
 * depth.
 */
export function formSchema(document: JsonObject, schema: Json | undefined, isFileAllowed = false): JsonObject {
  for (const depth of DEPTHS) {
    try {
      const walk: Walk = { document, parts: 0, isFileAllowed }
      const flat = flatten(walk, schema, depth, [])
      if (JSON.stringify(flat).length <= MAX_BYTES) return flat
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
  }
  return { description: 'Any JSON: its schema is too large to be shown' }
}

const anything = (title?: Json): JsonObject => ({
  ...(typeof title === 'string' && { title: shortText(title, 80) }),
  description: 'Any JSON',
})

function flatten(walk: Walk, schema: Json | undefined, depth: number, within: readonly string[]): JsonObject {
  walk.parts += 1
  if (walk.parts > MAX_PARTS) throw new TooLarge()
  if (!isObject(schema)) return {}
  if (typeof schema.$ref === 'string') {
    const reference = schema.$ref
    if (within.includes(reference) || depth <= 0) return anything()
    const target = flatten(walk, lookUp(walk.document, reference), depth, [...within, reference])
    const description = shortText(schema.description)
    return description ? { ...target, description } : target
  }
  if (walk.isFileAllowed && isBinary(schema)) return withText(schema, { ...FILE_OR_TEXT })
  if (depth <= 0) return anything(schema.title)
  const merged = Array.isArray(schema.allOf) ? mergedAll(walk, schema, depth, within) : undefined
  return withNull(schema, merged ?? plain(walk, schema, depth, within))
}

const isBinary = ({ type, format, contentMediaType }: JsonObject): boolean =>
  type === 'file' ||
  (type === 'string' && (format === 'binary' || contentMediaType === 'application/octet-stream')) ||
  (type === undefined && format === 'binary')

function withText(from: JsonObject, to: JsonObject): JsonObject {
  const title = shortText(from.title, 80)
  const description = shortText(from.description)
  return { ...to, ...(title && { title }), ...(description && { description }) }
}

function plain(walk: Walk, schema: JsonObject, depth: number, within: readonly string[]): JsonObject {
  const flat = withText(schema, {})
  takeValues(schema, flat)
  takeObject(walk, schema, flat, depth, within)
  if (isObject(schema.items)) flat.items = flatten(walk, schema.items, depth - 1, within)
  // `oneOf` becomes `anyOf`, because several branches may match after they were cut off.
  for (const keyword of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[keyword]) && schema[keyword].length > 0 && flat.anyOf === undefined)
      flat.anyOf = schema[keyword].map((one) => flatten(walk, one, depth - 1, within))
  return flat
}

function takeValues(schema: JsonObject, flat: JsonObject): void {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(
    (type): type is string => type !== undefined && TYPES.has(type),
  )
  if (types.length > 0) flat.type = types.length === 1 ? types[0]! : types
  if (Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.length <= MAX_ENUM) flat.enum = schema.enum
  if (schema.const !== undefined) flat.const = schema.const
  if (schema.default !== undefined && typeof schema.default !== 'object') flat.default = schema.default
  if (schema.format !== undefined && FORMATS.has(schema.format)) flat.format = schema.format
  for (const keyword of COUNTS)
    if (Number.isInteger(schema[keyword]) && Number(schema[keyword]) >= 0) flat[keyword] = schema[keyword]!
  for (const keyword of NUMBERS) if (typeof schema[keyword] === 'number') flat[keyword] = schema[keyword]
  if (typeof flat.multipleOf === 'number' && flat.multipleOf <= 0) delete flat.multipleOf
  // In OpenAPI 3.0 and 2, a boolean says that the bound itself is excluded.
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const)
    if (schema[flag] === true && typeof schema[bound] === 'number') {
      flat[flag] = schema[bound]
      delete flat[bound]
    }
  if (schema.uniqueItems === true) flat.uniqueItems = true
  if (typeof schema.pattern === 'string' && typeof compilePattern(schema.pattern) !== 'string')
    flat.pattern = schema.pattern
}

function takeObject(walk: Walk, schema: JsonObject, flat: JsonObject, depth: number, within: readonly string[]): void {
  const properties: JsonObject = {}
  const dropped = new Set<Json>()
  for (const [name, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    // Read-only properties are set by the server and must not be sent.
    if (isForbiddenKey(name) || (isObject(property) && property.readOnly === true)) dropped.add(name)
    else properties[name] = flatten(walk, property, depth - 1, within)
  }
  if (Object.keys(properties).length > 0) flat.properties = properties
  if (Array.isArray(schema.required)) {
    const required = schema.required.filter((name) => typeof name === 'string' && !dropped.has(name))
    if (required.length > 0) flat.required = required
  }
  const { additionalProperties } = schema
  if (additionalProperties === false && dropped.size === 0) flat.additionalProperties = false
  else if (isObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
    flat.additionalProperties = flatten(walk, additionalProperties, depth - 1, within)
}

/** Merges an `allOf` of objects into one object, which a form can show. */
function mergedAll(
  walk: Walk,
  { allOf, ...rest }: JsonObject,
  depth: number,
  within: readonly string[],
): JsonObject | undefined {
  const branches = [rest, ...(allOf as Json[])].map((branch) => flatten(walk, branch, depth, within))
  const merged: JsonObject = {}
  const required = new Set<Json>()
  for (const { properties, required: needed, anyOf, additionalProperties: _extra, ...others } of branches) {
    for (const [key, value] of Object.entries(others)) merged[key] ??= value
    if (isObject(properties)) merged.properties = { ...(merged.properties as JsonObject | undefined), ...properties }
    if (Array.isArray(needed)) for (const name of needed) required.add(name)
    if (anyOf !== undefined) merged.anyOf ??= anyOf
  }
  if (required.size > 0) merged.required = [...required]
  return merged
}

/** Adds null to the type if the schema is `nullable`, as in OpenAPI 3.0. */
function withNull({ nullable, 'x-nullable': xNullable }: JsonObject, flat: JsonObject): JsonObject {
  if (nullable !== true && xNullable !== true) return flat
  if (Array.isArray(flat.anyOf)) return { ...flat, anyOf: [...flat.anyOf, { type: 'null' }], ...typeWithNull(flat) }
  if (Array.isArray(flat.enum) && !flat.enum.includes(null))
    return { ...flat, enum: [...flat.enum, null], ...typeWithNull(flat) }
  return { ...flat, ...typeWithNull(flat) }
}

const typeWithNull = ({ type }: JsonObject): JsonObject => {
  if (type === undefined) return {}
  const types = Array.isArray(type) ? type : [type]
  return { type: types.includes('null') ? types : [...types, 'null'] }
}
