import { z } from 'zod'
import { normaliseEmail } from '../auth/email.ts'
import { fromWire, type Prefix, toWire, UNKNOWN_ID } from '../ids.ts'

// One zod schema gives the check, the type and the OpenAPI schema. This registry contains what zod cannot express about
// the wire format.

export type Wire = { schema: Record<string, unknown>; prefix?: Prefix; encode?: Encode }
export const wire = z.registry<Wire>()

/** An id in a response: a uuid in the program, a TypeID on the wire. */
export const id = (prefix: Prefix) =>
  z.string().register(wire, { schema: { type: 'string', examples: [`${prefix}_01kf3v6h2he3wtpk1fw5c0wz9d`] }, prefix })

/**
 * An id in a body. An ill-formed id becomes an id that does not exist, so that it is refused exactly like an id of
 * another tenant.
 */
export const reference = (prefix: Prefix) =>
  z
    .string()
    .max(200)
    .register(wire, { schema: { type: 'string', examples: [`${prefix}_01kf3v6h2he3wtpk1fw5c0wz9d`] } })
    .transform((text) => fromWire(prefix, text) ?? UNKNOWN_ID)

/** A time in a response. */
export const timestamp = () =>
  z
    .custom<Date>((value) => value instanceof Date || typeof value === 'string')
    .register(wire, { schema: { type: 'string', format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] } })

/** A time in JSON that the database built: with microseconds and an offset there, like every other time on the wire. */
export const jsonTimestamp = () =>
  z.string().register(wire, {
    schema: { type: 'string', format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] },
    encode: (value) => (typeof value === 'string' ? new Date(value).toISOString() : value),
  })

/** A time in a body or a query, whose year has at most four digits in UTC. */
export const timestampIn = () =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .refine((at) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999, 'must be in the years 1 to 9999 of UTC')

/** Any JSON object, stored unchanged. */
export const jsonObject = () => z.record(z.string(), z.unknown())

const DEFINITION: Wire = { schema: { $ref: '#/components/schemas/Definition' } }

/** A workflow definition in a body. The graph validator checks it and names the node and the path. */
export const definitionIn = () =>
  z
    .unknown()
    .refine((value) => value !== undefined, 'is required')
    .register(wire, DEFINITION)
/** A workflow definition in a response. */
export const definition = () => jsonObject().register(wire, DEFINITION)

/** A file among the parts of a form, for the OpenAPI document. */
export const filePart = () => z.unknown().register(wire, { schema: { type: 'string', format: 'binary' } })
export const audioForm = z.object({ audio: filePart() })

export const name = (longest = 200) => z.string().trim().min(1).max(longest)
export const email = () => z.string().max(320).overwrite(normaliseEmail).pipe(z.email().max(320))

export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() })

export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(4000).optional(),
})
export type ListQuery = z.output<typeof listQuery>

export type Encode = (value: unknown) => unknown

/**
 * Returns a function that converts the uuids of a response to TypeIDs, and times of `jsonTimestamp`, only where the
 * schema declares them. Tenant data that merely looks like an id is not changed. Returns undefined if there is nothing
 * to convert.
 */
export function compileEncoder(schema: z.ZodType): Encode | undefined {
  const { prefix, encode: registered } = wire.get(schema) ?? {}
  if (registered) return registered
  if (prefix !== undefined) {
    return (value) =>
      typeof value === 'string' && value.length === 36 && value[8] === '-' ? toWire(prefix, value) : value
  }
  const { def } = (schema as unknown as { _zod: { def: ZodDefinition } })._zod
  switch (def.type) {
    case 'object':
      return encodeObject(Object.entries(def.shape ?? {}))
    case 'array':
      return encodeEach(def.element)
    case 'record': {
      const encode = def.valueType && compileEncoder(def.valueType)
      return (
        encode &&
        ((value) =>
          isObject(value)
            ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, encode(inner)]))
            : value)
      )
    }
    case 'union': {
      const encoders = (def.options ?? []).map(compileEncoder).filter((encode) => encode !== undefined)
      return encoders.length === 0 ? undefined : (value) => encoders.reduce((current, encode) => encode(current), value)
    }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return def.innerType && compileEncoder(def.innerType)
    default:
      return undefined
  }
}

/** As above, but compiled at the first use: most of the hundreds of routes are not called soon after a start. */
export function lazyEncoder(schema: z.ZodType): Encode {
  let encode: Encode | undefined
  return (value) => {
    encode ??= compileEncoder(schema) ?? ((same) => same)
    return encode(value)
  }
}

type ZodDefinition = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  valueType?: z.ZodType
  options?: z.ZodType[]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

function encodeObject(shape: [string, z.ZodType][]): Encode | undefined {
  const fields = shape.flatMap(([key, inner]) => {
    const encode = compileEncoder(inner)
    return encode ? [{ key, encode }] : []
  })
  if (fields.length === 0) return undefined
  return (value) => {
    if (!isObject(value)) return value
    const copy = { ...value }
    for (const { key, encode } of fields) if (key in copy) copy[key] = encode(copy[key])
    return copy
  }
}

function encodeEach(element: z.ZodType | undefined): Encode | undefined {
  const encode = element && compileEncoder(element)
  return encode && ((value) => (Array.isArray(value) ? value.map(encode) : value))
}
