import { z } from 'zod'
import { anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, name, timestamp } from '#platform/http/schema'
import { warehouseKinds } from '#providers/warehouse/index'

const connectionStatuses = ['active', 'failing', 'revoked'] as const

export const Source = z
  .object({
    source_id: id('src'),
    connection_id: id('conn'),
    name: z.string(),
    table: z.string().nullable(),
    query: z.string().nullable(),
    cursor: z
      .string()
      .nullable()
      .describe('A column whose values only grow: jobs continue reading after the last value of their previous run'),
    created_at: timestamp(),
  })
  .meta({ id: 'Source' })
export type Source = z.input<typeof Source>

export const Connection = z
  .object({
    connection_id: id('conn'),
    name: z.string(),
    kind: z.enum(warehouseKinds),
    config: jsonObject(),
    allow_write: z.boolean().describe('Whether workflows may write through it (`warehouse.execute`)'),
    status: z.enum(connectionStatuses),
    problem: z.object({ step: z.string(), message: z.string() }).nullable(),
    credential: z.object({ state: z.enum(['stored', 'revoked']) }),
    sources: z.array(Source),
    owner_id: id('usr').nullable(),
    checked_at: timestamp(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Connection' })
export type Connection = z.input<typeof Connection>

export const ConnectionList = z
  .object({
    items: z.array(Connection),
    kinds: z.array(
      z.object({
        kind: z.enum(warehouseKinds),
        title: z.string(),
        config_schema: jsonObject(),
        can_write: z.boolean().describe('Whether `allow_write` is available'),
        secret_fields: z.array(
          z.object({ name: z.string(), title: z.string(), required: z.boolean(), multiline: z.boolean().optional() }),
        ),
      }),
    ),
  })
  .meta({ id: 'ConnectionList' })

const secrets = z.record(z.string().max(64), z.string().max(65_536))

export const NewConnection = z
  .strictObject({
    name: name(),
    kind: z.enum(warehouseKinds),
    config: jsonObject(),
    secrets: secrets.optional(),
    allow_write: z.boolean().default(false).describe('Let workflows write through it'),
  })
  .meta({ id: 'NewConnection' })

export const ConnectionPatch = z
  .strictObject({
    name: name().optional(),
    allow_write: z
      .boolean()
      .optional()
      .describe('Let workflows write through it. Only its owner and owners of the workspace may change this'),
  })
  .meta({ id: 'ConnectionPatch' })

export const Credential = z
  .strictObject({ secrets: secrets.optional(), config: jsonObject().optional() })
  .meta({ id: 'ConnectionCredential' })

const column = z.object({ name: z.string(), type: z.string().describe("The vendor's own name of the type") })

export const ConnectionTables = z
  .object({
    tables: z
      .array(z.object({ table: z.string().describe('With its schema, as in a source'), columns: z.array(column) }))
      .describe('By name'),
    complete: z.boolean().describe('false: there are more tables, or this kind of warehouse cannot list its tables'),
  })
  .meta({ id: 'ConnectionTables' })

export const TablePreview = z
  .object({ columns: z.array(column), rows: z.array(jsonObject()).describe('The first 20 at most') })
  .meta({ id: 'TablePreview' })

export const PreviewQuery = z.strictObject({
  table: z.string().trim().min(1).max(400).describe('As a source names it'),
})

export const NewSource = z
  .strictObject({
    name: name(),
    table: z.string().trim().min(1).max(400).optional(),
    query: z.string().trim().min(1).max(100_000).optional(),
    cursor: z
      .string()
      .trim()
      .min(1)
      .max(128)
      .optional()
      .describe('A column that only grows, such as the time of the last change'),
  })
  .refine(({ table, query }) => (table === undefined) !== (query === undefined), {
    message: 'exactly one of table and query is required',
    path: ['table'],
  })
  .meta({ id: 'NewSource' })

export const connectionList = defineList({
  id: 'connection_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', checked_at: 'time' },
  order: '-created_at',
  filters: { kind: anyOf(warehouseKinds), status: anyOf(connectionStatuses) },
})
/** The list is not paged. */
export const connectionQuery = connectionList.query.omit({ limit: true, cursor: true })

export const sourceList = defineList({
  id: 'source_id',
  search: ['name'],
  sort: { created_at: 'id', name: 'text' },
  order: '-created_at',
})
