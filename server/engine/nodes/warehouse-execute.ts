import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { checked, codeText, fields } from './kind.ts'

/**
 * Writes to a warehouse; the connections area implements it. It writes once, in one transaction if the vendor has
 * transactions. Throws NodeFailure.
 */
export type ExecuteWarehouse = (wanted: {
  workspaceId: string
  connectionId: string
  what: { statement: string; params: Json[] } | { table: string; columns: string[]; rows: Json[][]; key: string[] }
  signal: AbortSignal
}) => Promise<{ affected: number | null }>

const MAX_ROWS = 10_000

/** Returns all columns of the rows in the order of their first occurrence. A row without a column has null there. */
export function tableOf(records: JsonObject[]): { columns: string[]; rows: Json[][] } {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))]
  return {
    columns,
    rows: records.map((record) => columns.map((column) => (Object.hasOwn(record, column) ? record[column]! : null))),
  }
}

export const makeWarehouseExecute = ({ executeWarehouse }: { executeWarehouse: ExecuteWarehouse }): NodeKind =>
  checked({
    descriptor: {
      type: 'warehouse.execute',
      kind: 'tool',
      group: 'data',
      title: 'Write to a warehouse',
      description:
        'Runs one statement with parameters, or inserts rows into a table. With a key, existing rows are updated. If the warehouse supports transactions, either all rows are written or none.',
      icon: 'database',
      colour: '#0f766e',
      keywords: [
        'sql',
        'insert',
        'update',
        'upsert',
        'merge',
        'delete',
        'postgres',
        'mysql',
        'mariadb',
        'sqlserver',
        'redshift',
        'snowflake',
        'bigquery',
        'databricks',
        'clickhouse',
        'duckdb',
      ],
      args_schema: fields(
        {
          connection_id: { type: 'string', title: 'Connection', minLength: 1, 'x-id': 'conn' },
          // Values are passed in `params`. The SQL text is never built from data.
          statement: codeText('sql', { title: 'Statement', minLength: 1, maxLength: 100_000 }),
          params: {
            type: 'array',
            title: 'Parameters',
            maxItems: 2_000,
            description:
              'The values in order, for $1, $2 … (PostgreSQL, Redshift, DuckDB), ? (MySQL, Snowflake, BigQuery, Databricks), @p1, @p2 … (SQL Server) or {p1:String}, {p2:UInt64} … (ClickHouse)',
          },
          table: { type: 'string', title: 'Table', minLength: 1, maxLength: 400 },
          rows: { type: 'array', title: 'Rows', items: { type: 'object' }, maxItems: MAX_ROWS },
          key: {
            type: 'array',
            title: 'Key columns',
            items: { type: 'string', minLength: 1, maxLength: 128 },
            maxItems: 16,
            description: 'Rows with the same key are updated instead of inserted',
          },
        },
        ['connection_id'],
        { oneOf: [{ required: ['statement'] }, { required: ['table', 'rows'] }] },
      ),
      output_schema: {
        type: 'object',
        properties: {
          affected: { type: ['integer', 'null'], description: 'Rows that were changed, as the warehouse counts them' },
        },
      },
      ports: ['out'],
      effect: 'at_most_once',
      defaults: { connection_id: '', table: '', rows: [] },
    },
    async run({ args, workspaceId, signal }) {
      const key = (args.key ?? []) as string[]
      if (typeof args.statement === 'string' && (args.key !== undefined || args.rows !== undefined))
        throw new NodeFailure('args_invalid', 'give a statement, or a table with rows', { retryable: false })
      const what =
        typeof args.statement === 'string'
          ? { statement: args.statement, params: (args.params ?? []) as Json[] }
          : { table: String(args.table), key, ...tableOf(args.rows as JsonObject[]) }
      const connectionId = fromWire('conn', String(args.connection_id)) ?? UNKNOWN_ID
      const { affected } = await executeWarehouse({ workspaceId, connectionId, what, signal })
      return { output: { affected } }
    },
  })
