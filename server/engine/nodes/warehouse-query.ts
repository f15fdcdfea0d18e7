import type { NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { checked, codeText, fields } from './kind.ts'

/** Runs one read-only statement; the connections area implements it. Throws NodeFailure. */
export type QueryWarehouse = (wanted: {
  workspaceId: string
  connectionId: string
  query: string
  params?: Json[] | JsonObject
  limit: number
  signal: AbortSignal
}) => Promise<{ rows: JsonObject[]; columns: { name: string; type: string }[] }>

const MAX_ROWS = 10_000
const DEFAULT_ROWS = 1_000

export const makeWarehouseQuery = ({ queryWarehouse }: { queryWarehouse: QueryWarehouse }): NodeKind =>
  checked({
    descriptor: {
      type: 'warehouse.query',
      kind: 'tool',
      group: 'data',
      title: 'Query a warehouse',
      description: 'Runs one read-only query on a stored connection.',
      icon: 'database',
      colour: '#0f766e',
      keywords: [
        'sql',
        'postgres',
        'snowflake',
        'bigquery',
        'databricks',
        'clickhouse',
        'duckdb',
        'redshift',
        'select',
      ],
      args_schema: fields(
        {
          connection_id: { type: 'string', title: 'Connection', minLength: 1, 'x-id': 'conn' },
          // Values are passed in `params`. The SQL text is never built from data.
          query: codeText('sql', { title: 'Query', minLength: 1, maxLength: 100_000 }),
          params: {
            title: 'Parameters',
            description: 'A list for $1, $2 …, or an object of names and values, depending on the warehouse',
          },
          limit: { type: 'integer', title: 'Limit', minimum: 1, maximum: MAX_ROWS, default: DEFAULT_ROWS },
        },
        ['connection_id', 'query'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          rows: { type: 'array', items: { type: 'object' } },
          columns: { type: 'array', items: { type: 'object' } },
        },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { connection_id: '', query: 'select 1' },
    },
    async run({ args, workspaceId, signal }) {
      const { params } = args
      const { rows, columns } = await queryWarehouse({
        workspaceId,
        connectionId: fromWire('conn', String(args.connection_id)) ?? UNKNOWN_ID,
        query: String(args.query),
        ...(typeof params === 'object' && params !== null && { params: params as Json[] | JsonObject }),
        limit: Number(args.limit ?? DEFAULT_ROWS),
        signal,
      })
      return { output: { rows, columns } }
    },
  })
