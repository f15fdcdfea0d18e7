import type { Json, JsonObject } from '#model/definition'
import type { JsonSchema } from '#model/node'

export const warehouseKinds = [
  'postgres',
  'redshift',
  'snowflake',
  'bigquery',
  'databricks',
  'clickhouse',
  'duckdb',
] as const
export type WarehouseKind = (typeof warehouseKinds)[number]

/** What a probe does, in this order; a failure names the step it happened in. */
export type Step = 'resolve' | 'connect' | 'tls' | 'sign_in' | 'read'

export class WarehouseFailure extends Error {
  readonly step: Step

  constructor(step: Step, message: string) {
    super(message)
    this.step = step
  }
}

export type SecretField = { name: string; title: string; required: boolean; multiline?: boolean }

export type Target = { workspaceId: string; config: JsonObject; secrets: Record<string, string> }

export type Query = {
  text: string
  params?: Json[] | JsonObject
  /** Rows at most; the rest is never fetched. */
  limit: number
  /** Bytes of all rows together, as JSON; a result that is larger is refused. */
  maxBytes?: number
  timeoutMs: number
  signal: AbortSignal
}

export type ResultColumn = { name: string; type: string }
export type QueryResult = { columns: ResultColumn[]; pages: AsyncIterable<JsonObject[]> }

/** One kind of data warehouse. Everything it does is read-only and goes only to `destination`. */
export type Warehouse = {
  kind: WarehouseKind
  title: string
  config_schema: JsonSchema
  secret_fields: SecretField[]
  /** Where its secrets are sent, from the config alone: a stored secret is bound to this text. */
  destination(config: JsonObject): string
  /** What the service itself does before a process of its own reads anything. */
  prepare?(target: Target): Promise<void>
  /** Throws WarehouseFailure. */
  probe(target: Target, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
  /** One statement that reads. Throws WarehouseFailure, also while the pages are read. */
  query(target: Target, query: Query): Promise<QueryResult>
  /** A statement that reads a whole table, its name quoted part by part. */
  readTable(table: string): string
}

export type Warehouses = Record<WarehouseKind, Warehouse>
