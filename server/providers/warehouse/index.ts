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
  'mysql',
  'sqlserver',
] as const
export type WarehouseKind = (typeof warehouseKinds)[number]

/** What a probe does, in this order; a failure names the step it happened in. `write` is what only executions come to. */
export type Step = 'resolve' | 'connect' | 'tls' | 'sign_in' | 'read' | 'write'

/** What a failed execution may have changed: nothing, or nobody knows. */
export type Changed = 'nothing' | 'unknown'

export class WarehouseFailure extends Error {
  readonly step: Step
  readonly changed: Changed

  constructor(step: Step, message: string, changed: Changed = step === 'write' ? 'unknown' : 'nothing') {
    super(message)
    this.step = step
    this.changed = changed
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

/** `of`: the columns that the parameters are values of, row by row, where the statement writes rows of a table. */
export type Statement = { text: string; params: Json[]; of?: { table: string; columns: string[] } }

/** Statements that write, in one transaction where the vendor has one. */
export type Work = {
  statements: Statement[]
  timeoutMs: number
  signal: AbortSignal
  /** Called before what cannot be taken back. A failure before that has changed nothing. */
  beyond(): Promise<void>
}

/** Rows that each statement changed, as far as the vendor tells. */
export type Executed = { affected: (number | null)[] }

export type Rows = { table: string; columns: string[]; rows: Json[][]; key: string[] }

/** What a vendor's SQL looks like where this program writes it. */
export type Writing = {
  /** Whether several statements are all or nothing. */
  transaction: boolean
  /** Inserts the rows; with a key, rows that are there already are updated. */
  statementsFor(rows: Rows): Statement[]
}

/** One kind of data warehouse. It goes only to `destination`, and only `execute` writes. */
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
  /** The rows of a statement from a value of a column on, in its order; the value is the only parameter. Absent: not offered. */
  readFrom?(text: string, column: string, isFirst: boolean): string
  writing?: Writing
  /** Why nothing can be written with this config, or null. */
  whyReadOnly?(config: JsonObject): string | null
  /** What the service itself checks before anything is written. Throws WarehouseFailure. */
  prepareWriting?(target: Target): Promise<void>
  /** Throws WarehouseFailure. */
  execute?(target: Target, work: Work): Promise<Executed>
}

export type Warehouses = Record<WarehouseKind, Warehouse>
