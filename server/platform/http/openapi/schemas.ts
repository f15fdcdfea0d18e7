import { z } from 'zod'
import { wire } from '../schema.ts'
import { describeFields } from './fields.ts'

// JSON Schemas of the document, from the zod schemas of the routes.

export type Schema = Record<string, unknown>
export type Components = Record<string, Schema>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const componentRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const withoutId = ({ id: _id, ...rest }: Schema): Schema => rest

function pointAtComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointAtComponents)
  if (!isSchema(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : pointAtComponents(inner),
    ]),
  )
}

/**
 * Converts a zod schema. Schemas with an id become components. `owner` is the operation, for fields whose meaning
 * depends on it.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Components, owner: string): Schema {
  const converted = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const said = wire.get(zodSchema as unknown as z.ZodType)
      if (said?.schema.$ref) for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
      if (said) Object.assign(jsonSchema, said.schema)
    },
  }) as Schema & { $defs?: Record<string, Schema> }
  const { $defs = {}, $schema: _dialect, ...rest } = converted
  const keep = (name: string, definition: Schema): void => {
    components[name] ??= describeFields(pointAtComponents(withoutId(definition)) as Schema, name)
  }
  for (const [name, definition] of Object.entries($defs)) keep(name, definition)
  if (typeof rest.id === 'string') {
    keep(rest.id, rest)
    return componentRef(rest.id)
  }
  return describeFields(pointAtComponents(rest) as Schema, owner)
}
