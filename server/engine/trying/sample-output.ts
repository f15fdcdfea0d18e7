import type { Json, JsonObject, Node } from '#model/definition'
import { isExpression } from '#model/expressions'
import { isObject } from '#model/json'
import type { NodeDescriptor } from '#model/node'

// A value that a node could have returned. It replaces an effect that has no record, and is the same on every call.

const MAX_DEPTH = 8

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

const textOf = (schema: JsonObject): string => {
  const text = (typeof schema.format === 'string' && TEXTS[schema.format]) || 'text'
  const min = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 1_000) : 0
  const max = typeof schema.maxLength === 'number' ? schema.maxLength : text.length
  return text.padEnd(min, 'x').slice(0, Math.max(max, min))
}

const numberOf = (schema: JsonObject, isWhole: boolean): number => {
  const { minimum, maximum, exclusiveMinimum } = schema
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum
  let value = typeof least === 'number' && least > 1 ? least : 1
  if (typeof maximum === 'number' && value > maximum) value = typeof least === 'number' ? least : maximum
  return isWhole ? Math.ceil(value) : value
}

const objectOf = (schema: JsonObject, depth: number): JsonObject => {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, depth + 1)]))
}

const listOf = (schema: JsonObject, depth: number): Json[] => {
  const count = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 10) : 0
  return Array.from({ length: count }, () => sampleOf(schema.items, depth + 1))
}

const first = (schema: JsonObject): Json | undefined => {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined && !isExpression(schema.default)) return schema.default
  for (const list of [schema.examples, schema.enum]) if (Array.isArray(list) && list.length > 0) return list[0]
  return undefined
}

function sampleOf(schema: Json | undefined, depth: number): Json {
  if (!isObject(schema) || depth > MAX_DEPTH) return null
  const named = first(schema)
  if (named !== undefined) return named
  for (const branches of [schema.anyOf, schema.oneOf])
    if (Array.isArray(branches) && branches.length > 0) return sampleOf(branches[0], depth + 1)
  if (Array.isArray(schema.allOf))
    return Object.assign({}, ...schema.allOf.map((one) => sampleOf(one, depth + 1)).filter(isObject))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return numberOf(schema, true)
    case 'number':
      return numberOf(schema, false)
    case 'boolean':
      return false
    case 'array':
      return listOf(schema, depth)
    case 'object':
      return objectOf(schema, depth)
    default:
      return isObject(schema.properties) ? objectOf(schema, depth) : null
  }
}

/** Returns a value that fits the schema, according to its types, enums, examples and defaults. */
export const sampleValue = (schema: Json | undefined): Json => sampleOf(schema, 0)

const MOCKED_TEXT = 'This text is mocked.'

/** The plausible outputs of kinds whose output schema alone is not specific enough. */
const OF_KIND: Readonly<Record<string, (node: Node) => Json>> = {
  'http.request': ({ args }): JsonObject =>
    args?.paginate === undefined
      ? { status: 200, headers: {}, body: {} }
      : { status: 200, items: [], pages: 1, more: false },
  'llm.generate': () => ({ text: MOCKED_TEXT, truncated: false }),
  'llm.extract': ({ args }) => ({ value: sampleValue(args?.schema), missing: [] }),
  'agent.run': () => ({ answer: MOCKED_TEXT, steps: [] }),
  'agent.review': () => ({ decision: 'approve', rationale: MOCKED_TEXT, confidence: null, evidence: [], usage: null }),
  approval: () => ({ status: 'approved', votes: [] }),
  clarification: ({ args }) => sampleValue(args?.schema),
  'wait.event': ({ args }) => ({
    data: sampleValue(args?.schema),
    event_id: null,
    name: null,
    received_at: '2026-01-01T00:00:00.000Z',
    timed_out: false,
  }),
  wait: () => ({ waited_s: 0 }),
  subworkflow: () => ({}),
}

export const sampleOutput = (node: Node, descriptor: NodeDescriptor | undefined): Json => {
  const own = Object.hasOwn(OF_KIND, node.type) ? OF_KIND[node.type] : undefined
  return own ? own(node) : sampleValue(descriptor?.output_schema)
}
