import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// A JSON Schema of an object as a list of fields, the form that most people want to edit. What a list cannot express
// stays JSON.

export type FieldType = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'date' | 'list' | 'object' | 'any'
export type SchemaField = {
  name: string
  type: FieldType
  required: boolean
  description: string
  choices: string[]
  /** Keywords that the list does not show, kept unchanged. */
  more: JsonObject
}

const bare: Record<FieldType, JsonObject> = {
  text: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  choice: { type: 'string' },
  date: { type: 'string', format: 'date' },
  list: { type: 'array' },
  object: { type: 'object' },
  any: {},
}

const own = new Set(['type', 'properties', 'required', '$schema', 'additionalProperties'])

/** Returns the fields of a schema, or null if a list of fields cannot express it. */
export function toFields(schema: Json | undefined): SchemaField[] | null {
  if (schema === undefined) return []
  if (!isObject(schema) || (schema.type !== undefined && schema.type !== 'object')) return null
  if (Object.keys(schema).some((key) => !own.has(key))) return null
  if (isObject(schema.additionalProperties)) return null
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  const fields = Object.entries(properties).map(([name, inner]) => toField(name, inner, required.includes(name)))
  return fields.some((field) => field === null) ? null : (fields as SchemaField[])
}

function toField(name: string, schema: Json, required: boolean): SchemaField | null {
  if (!isObject(schema)) return null
  const { type, description, enum: choices, format, ...more } = schema
  const found = typeOf(type, choices, format)
  if (found === null) return null
  return {
    name,
    type: found,
    required,
    description: typeof description === 'string' ? description : '',
    choices: found === 'choice' ? (choices as string[]) : [],
    more: found === 'date' || format === undefined ? more : { ...more, format },
  }
}

function typeOf(type: Json | undefined, choices: Json | undefined, format: Json | undefined): FieldType | null {
  if (choices !== undefined) {
    const texts = Array.isArray(choices) && choices.every((item) => typeof item === 'string')
    return texts && (type === undefined || type === 'string') ? 'choice' : null
  }
  if (type === undefined) return 'any'
  if (type === 'string') return format === 'date' ? 'date' : 'text'
  const named: Record<string, FieldType> = {
    number: 'number',
    integer: 'integer',
    boolean: 'boolean',
    array: 'list',
    object: 'object',
  }
  return typeof type === 'string' ? (named[type] ?? null) : null
}

export function fromFields(fields: readonly SchemaField[], before?: Json): JsonObject {
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  const closed: JsonObject =
    isObject(before) && before.additionalProperties !== undefined
      ? { additionalProperties: before.additionalProperties }
      : {}
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fromField(field)])),
    ...(required.length > 0 && { required }),
    ...closed,
  }
}

const fromField = ({ type, description, choices, more }: SchemaField): JsonObject => ({
  ...bare[type],
  ...(type === 'choice' && { enum: choices }),
  ...(description !== '' && { description }),
  ...more,
})
