import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type QueryResult, WarehouseFailure } from '#providers/warehouse/index'
import { columnsQuery } from '#providers/warehouse/tables'
import * as store from './store.ts'
import { type ConnectionUse, failedAt, type QueryOptions } from './using.ts'

// Browses a warehouse before a source is attached.

const BROWSE_WITHIN = 20 * SECOND
const MAX_COLUMNS = 5_000
const MAX_PREVIEWED = 20
const MAX_BYTES = 1024 * 1024

type Deps = { use: ConnectionUse }
type ById = { connection_id: string }

async function read(
  { use }: Deps,
  ctx: Context,
  connectionId: string,
  what: { text: string } | { table: string },
  limit: number,
) {
  const options: QueryOptions = {
    ...what,
    limit,
    maxBytes: MAX_BYTES,
    timeoutMs: BROWSE_WITHIN,
    signal: ctx.stepAside(),
  }
  try {
    const result: QueryResult | undefined = await use.queryConnection(ctx.workspace.workspace_id, connectionId, options)
    if (!result) throw problem('not_found')
    const rows: JsonObject[] = []
    for await (const page of result.pages) rows.push(...page)
    return { columns: result.columns, rows }
  } catch (error) {
    throw error instanceof WarehouseFailure ? failedAt(error, 'Nothing was changed.') : error
  }
}

type Column = { name: string; type: string }

/** Returns a column as text. Vendors differ in whether they keep the case of column names. */
const textOf = (row: JsonObject, name: string): string => String(row[name] ?? row[name.toUpperCase()] ?? '')

export async function browseTables(deps: Deps, ctx: Context, { connection_id }: ById) {
  const { workspace_id: workspaceId } = ctx.workspace
  const connection = await ctx.db.tenant({ workspaceId, userId: null }, (tx) =>
    store.findUsable(tx, workspaceId, connection_id),
  )
  if (!connection) throw problem('not_found')
  const text = columnsQuery(connection.kind, connection.config)
  if (text === null) return { tables: [], complete: false }
  const { rows } = await read(deps, ctx, connection_id, { text }, MAX_COLUMNS)
  const tables = new Map<string, Column[]>()
  for (const row of rows) {
    const name = [textOf(row, 'schema'), textOf(row, 'table')].filter((part) => part !== '').join('.')
    const columns = tables.get(name) ?? []
    tables.set(name, [...columns, { name: textOf(row, 'column'), type: textOf(row, 'type').toLowerCase() }])
  }
  return {
    tables: [...tables].map(([table, columns]) => ({ table, columns })),
    complete: rows.length < MAX_COLUMNS,
  }
}

export async function previewTable(deps: Deps, ctx: Context, { connection_id, table }: ById & { table: string }) {
  return read(deps, ctx, connection_id, { table }, MAX_PREVIEWED)
}
