import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Variable, variableList } from './schema.ts'

const columns = 'name, value, description, created_by, created_at, updated_at'

export const listVariables = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<Variable>(tx, variableList, asked, {
    sql: `select name collate "C" as name, value, description, created_by, created_at, updated_at from variables where workspace_id = $1`,
    values: [workspaceId],
  })

export const findVariable = (tx: Tx, workspaceId: string, name: string): Promise<Variable | undefined> =>
  tx.maybe<Variable>(`select ${columns} from variables where workspace_id = $1 and name = $2`, [workspaceId, name])

/** Holds a lock until the end of the transaction, so that concurrent additions cannot exceed the limit. */
export const lockVariables = (tx: Tx, workspaceId: string): Promise<unknown> =>
  tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 8030))', [workspaceId])

export const measureOthers = (tx: Tx, workspaceId: string, name: string): Promise<{ count: number; bytes: number }> =>
  tx.row(
    `select count(*)::integer as count, coalesce(sum(octet_length(value::text)), 0)::integer as bytes
     from variables where workspace_id = $1 and name <> $2`,
    [workspaceId, name],
  )

export const putVariable = (
  tx: Tx,
  workspaceId: string,
  row: { name: string; value: string; description: string | null; userId: string },
): Promise<Variable> =>
  tx.row<Variable>(
    `insert into variables (workspace_id, name, value, description, created_by, updated_by) values ($1, $2, $3::jsonb, $4, $5, $5)
     on conflict (workspace_id, name) do update set value = excluded.value, description = excluded.description,
       updated_by = excluded.updated_by, updated_at = now()
     returning ${columns}`,
    [workspaceId, row.name, row.value, row.description, row.userId],
  )

export const deleteVariable = (tx: Tx, workspaceId: string, name: string): Promise<number> =>
  tx.count('delete from variables where workspace_id = $1 and name = $2', [workspaceId, name])

export const readValues = async (tx: Tx, workspaceId: string, names: readonly string[] | null): Promise<JsonObject> =>
  Object.fromEntries(
    (
      await tx.rows<{ name: string; value: JsonObject[string] }>(
        'select name, value from variables where workspace_id = $1 and ($2::text[] is null or name = any ($2))',
        [workspaceId, names],
      )
    ).map(({ name, value }) => [name, value]),
  )
