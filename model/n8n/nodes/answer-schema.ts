import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { NotConvertible } from '../js-ast.ts'
import type { Step } from '../step.ts'
import { attachedOf } from './language-model.ts'

// The schema of an answer: given in full, by an example, or by a parser attached to the node.

export function schemaOf(example: Json): JsonObject {
  if (Array.isArray(example)) return { type: 'array', ...(example.length > 0 && { items: schemaOf(example[0]!) }) }
  if (isObject(example))
    return {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(example)
          .filter(([key]) => !isForbiddenKey(key))
          .map(([key, value]) => [key, schemaOf(value)]),
      ),
    }
  if (typeof example === 'number') return { type: 'number' }
  if (typeof example === 'boolean') return { type: 'boolean' }
  return { type: 'string' }
}

export const parsed = (text: Json | undefined): Json | undefined => {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text.replace(/^=/, '')) as Json
  } catch {
    return undefined
  }
}

/** Returns the schema that a parser attached to the node requires for the answer. */
export function wantedSchema(step: Step): JsonObject | undefined {
  if (step.p.hasOutputParser === false) return undefined
  let parser = attachedOf(step, 'ai_outputParser')[0]?.node
  if (parser?.type.endsWith('.outputParserAutofixing'))
    parser = step.work.attached(parser.name).find(({ kind }) => kind === 'ai_outputParser')?.node
  if (!parser) return undefined
  const { parameters: p } = parser
  if (parser.type.endsWith('.outputParserItemList'))
    return { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } } }
  const given = parsed(p.inputSchema ?? p.jsonSchema)
  const schema =
    p.schemaType === 'manual' || (p.jsonSchemaExample === undefined && isObject(given))
      ? given
      : schemaOf(parsed(p.jsonSchemaExample) ?? {})
  if (!isObject(schema)) throw new NotConvertible('the schema of its answer cannot be read')
  const plain = cleaned(schema) as JsonObject
  return plain.type === 'object' || plain.type === undefined
    ? plain
    : { type: 'object', properties: { items: plain }, required: ['items'] }
}

/** Removes keywords that our schemas do not support. */
export function cleaned(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(cleaned)
  if (!isObject(schema)) return schema
  const known = Object.entries(schema).filter(
    ([key]) =>
      !isForbiddenKey(key) &&
      ![
        '$schema',
        '$id',
        'examples',
        'example',
        'nullable',
        'default',
        '$defs',
        'definitions',
        'format',
        'x-example',
      ].includes(key),
  )
  return Object.fromEntries(
    known.map(([key, value]) => [
      key,
      key === 'properties' && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleaned(inner)]))
        : cleaned(value),
    ]),
  )
}
