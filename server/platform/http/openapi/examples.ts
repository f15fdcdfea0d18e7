import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import type { AnyRoute } from '../route.ts'
import { type Components, isSchema, type Schema } from './schemas.ts'

// Examples of bodies and responses: those written in the route, else those recorded from successful calls (see
// docs/testing.md), else generated from the schema. An example that its own schema refuses is never shown.

type Recorded = Record<string, { body?: unknown; answer?: unknown }>

const read = (): Recorded =>
  JSON.parse(readFileSync(new URL('./examples.recorded.json', import.meta.url), 'utf8')) as Recorded
let recorded: Recorded | undefined

const MAX_DEPTH = 8

function resolve(schema: Schema, components: Components): Schema {
  const { $ref, ...beside } = schema
  if (typeof $ref !== 'string') return schema
  const named = components[$ref.split('/').at(-1)!]
  return named === undefined ? beside : { ...resolve(named, components), ...beside }
}

/** Returns a value that fits the schema. */
function fits(given: unknown, components: Components, depth: number): unknown {
  if (!isSchema(given)) return null
  const schema = resolve(given, components)
  if (schema.example !== undefined) return schema.example
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) return fits(options[0], components, depth)
  if (Array.isArray(schema.allOf))
    return Object.assign({}, ...schema.allOf.map((part) => fits(part, components, depth) as object))
  if (schema.default !== undefined) return schema.default
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object':
      return fitsObject(schema, components, depth)
    case 'array':
      return depth > MAX_DEPTH ? [] : [fits(schema.items ?? {}, components, depth + 1)]
    case 'integer':
    case 'number':
      return Math.max(Number(schema.minimum ?? 1), Number(schema.exclusiveMinimum ?? 0) + 1)
    case 'boolean':
      return true
    case 'string':
      return fitsText(schema)
    default:
      return null
  }
}

function fitsObject(schema: Schema, components: Components, depth: number): Schema {
  const required = new Set(schema.required as string[] | undefined)
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const shown = properties.filter(([name]) => required.has(name) || depth === 0)
  return Object.fromEntries(shown.map(([name, property]) => [name, fits(property, components, depth + 1)]))
}

const texts: Record<string, string> = {
  email: 'ada@example.com',
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  uri: 'https://example.com/',
  binary: '',
}

function fitsText(schema: Schema): string {
  const text = texts[String(schema.format)] ?? 'text'
  return text.padEnd(Number(schema.minLength ?? 0), 'x').slice(0, Number(schema.maxLength ?? 1000))
}

/**
 * Returns a value that the zod schema accepts. Contains only required fields if the schema refuses the complete value.
 */
function made(zod: z.ZodType, schema: Schema, components: Components): unknown {
  const whole = fits(schema, components, 0)
  return zod.safeParse(whole).success ? whole : fits(schema, components, 1)
}

function choose(zod: z.ZodType, schema: Schema, components: Components, candidates: unknown[]): unknown {
  const valid = candidates.find((candidate) => candidate !== undefined && zod.safeParse(candidate).success)
  if (valid !== undefined) return valid
  const value = made(zod, schema, components)
  return zod.safeParse(value).success ? value : undefined
}

export function exampleBody(route: AnyRoute, zod: z.ZodType, schema: Schema, components: Components): unknown {
  recorded ??= read()
  return choose(zod, schema, components, [route.examples?.body, recorded[route.operation]?.body])
}

export function exampleAnswer(route: AnyRoute, zod: z.ZodType, schema: Schema, components: Components): unknown {
  recorded ??= read()
  return choose(zod, schema, components, [route.examples?.answer, recorded[route.operation]?.answer])
}
