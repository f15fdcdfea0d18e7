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

/** The steps of a probe, in order; a failure names its step. Only executions reach `write`. */
export type Step = 'resolve' | 'connect' | 'tls' | 'sign_in' | 'read' | 'write'

/** The changes of a failed execution: nothing, or unknown. */
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
  /** The maximum number of rows. Further rows are never fetched. */
  limit: number
  /** The maximum size of all rows together, as JSON, in bytes. A larger result is refused. */
  maxBytes?: number
  timeoutMs: number
  signal: AbortSignal
}

export type ResultColumn = { name: string; type: string }
export type QueryResult = { columns: ResultColumn[]; pages: AsyncIterable<JsonObject[]> }

/** `of`: the table and the columns of the parameters, row by row, if the statement writes rows of a table. */
export type Statement = { text: string; params: Json[]; of?: { table: string; columns: string[] } }

/** Statements that write, in one transaction if the vendor supports transactions. */
export type Work = {
  statements: Statement[]
  timeoutMs: number
  signal: AbortSignal
  /** Called before the first change that cannot be rolled back. A failure before this call has changed nothing. */
  beyond(): Promise<void>
}

/** The number of rows that each statement changed. Null if the vendor does not report it. */
export type Executed = { affected: (number | null)[] }

export type Rows = { table: string; columns: string[]; rows: Json[][]; key: string[] }

/** Generates a vendor's SQL for writing rows. */
export type RowWriter = {
  /** True if several statements are atomic. */
  transaction: boolean
  /** Inserts the rows. With a key, existing rows are updated. */
  statementsFor(rows: Rows): Statement[]
}

/** One kind of data warehouse. It connects only to `destination`, and only `execute` writes. */
export type Warehouse = {
  kind: WarehouseKind
  title: string
  config_schema: JsonSchema
  secret_fields: SecretField[]
  /** Returns the destination of its secrets, from the configuration alone. A stored secret is bound to this text. */
  destination(config: JsonObject): string
  /** Runs in the service itself before a separate process reads anything. */
  prepare?(target: Target): Promise<void>
  /** Throws WarehouseFailure. */
  probe(target: Target, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
  /** Runs one statement that reads. Throws WarehouseFailure, also while the pages are being read. */
  query(target: Target, query: Query): Promise<QueryResult>
  /** Returns a statement that reads a whole table. Each part of the name is quoted. */
  readTable(table: string): string
  /**
   * Selects the rows of a statement whose column is at least a given value, ordered by that column. The value is the
   * only parameter. Absent if not supported.
   */
  readFrom?(text: string, column: string, isFirst: boolean): string
  writing?: RowWriter
  /** Returns the reason why this configuration is read-only, or null. */
  whyReadOnly?(config: JsonObject): string | null
  /** Checks in the service itself before anything is written. Throws WarehouseFailure. */
  prepareWriting?(target: Target): Promise<void>
  /** Throws WarehouseFailure. */
  execute?(target: Target, work: Work): Promise<Executed>
}

export type Warehouses = Record<WarehouseKind, Warehouse>
