import type { JsonObject } from '#model/definition'
import type { WarehouseKind } from './index.ts'

// Lists the tables that a person may read in a warehouse, from its own catalogue, so that only tables visible to its
// user are shown.

/** The vendors' own schemas, which are not listed. */
const SYSTEM = ['information_schema', 'pg_catalog', 'pg_internal', 'sys', 'mysql', 'performance_schema', 'system']

const columnsIn = (catalogue: string): string => `select table_schema as "schema", table_name as "table",
  column_name as "column", data_type as "type" from ${catalogue}
where lower(table_schema) not in (${SYSTEM.map((name) => `'${name}'`).join(', ')})
order by table_schema, table_name, ordinal_position`

/** Returns a query with one row per column, in the order of the table. */
export function columnsQuery(kind: WarehouseKind, config: JsonObject): string | null {
  switch (kind) {
    case 'bigquery': {
      // In BigQuery, each catalogue belongs to a dataset.
      const { dataset } = config
      if (typeof dataset !== 'string' || dataset === '') return null
      return columnsIn(`\`${dataset}\`.INFORMATION_SCHEMA.COLUMNS`).replaceAll('"', '`')
    }
    case 'mysql':
    case 'databricks':
      return columnsIn('information_schema.columns').replaceAll('"', '`')
    case 'sqlserver':
      return columnsIn('INFORMATION_SCHEMA.COLUMNS').replaceAll(/"(\w+)"/g, '[$1]')
    default:
      return columnsIn('information_schema.columns')
  }
}
