import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { formOf } from './value.ts'

// The form of a node that runs another workflow: its `input` has the fields of that workflow's `inputs`.

const propertiesOf = (schema: JsonObject | undefined): JsonObject =>
  isObject(schema?.properties) ? schema.properties : {}

/** Returns the schema of the arguments with these fields in `input`. A field of the value that is not among them is kept. */
export function withInputs(args: JsonObject, inputs: JsonObject | undefined, value: Json | undefined): JsonObject {
  const declared = propertiesOf(inputs)
  if (!inputs || Object.keys(declared).length === 0) return args
  const properties = propertiesOf(args)
  const given = isObject(value) && formOf(value) === 'literal' ? Object.keys(value) : []
  const others = Object.fromEntries(given.filter((name) => !Object.hasOwn(declared, name)).map((name) => [name, {}]))
  const { title } = properties.input as JsonObject
  const input: JsonObject = { ...inputs, type: 'object', properties: { ...declared, ...others }, title: title! }
  return { ...args, properties: { ...properties, input } }
}

/** Returns the required fields that an input written in the definition does not have. */
export function missingFields(inputs: JsonObject | undefined, value: Json | undefined): string[] {
  if (formOf(value) !== 'literal') return []
  const given = isObject(value) ? value : {}
  const required = Array.isArray(inputs?.required) ? inputs.required.map(String) : []
  return required.filter((name) => !Object.hasOwn(given, name))
}
