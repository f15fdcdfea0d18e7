import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { WarehouseKind } from '#providers/warehouse/index'
import { type Connection, connectionList, type Source, sourceList } from './schema.ts'

const sourceColumns = 'source_id, connection_id, name, "table", query, cursor_column as cursor, created_at'

/** The columns that people may see, without the sealed secret. */
const columns = `connection_id, name, kind, config, allow_write, status, problem, owner_id, checked_at, created_at, updated_at,
  jsonb_build_object('state', case when secrets is null then 'revoked' else 'stored' end) as credential`

type Row = Omit<Connection, 'sources'>

/** A connection with its sealed secret, for use. */
export type Usable = {
  connection_id: string
  name: string
  kind: WarehouseKind
  config: JsonObject
  allow_write: boolean
  status: 'active' | 'failing' | 'revoked'
  secrets: Buffer | null
  owner_id: string | null
}

/** Far more than the connections of any workspace. */
const MAX_LISTED = 100_000

export const listConnections = async (
  tx: Tx,
  workspaceId: string,
  asked: Omit<ListInput, 'limit'>,
): Promise<Connection[]> => {
  const { items: rows } = await readList<Row>(
    tx,
    connectionList,
    { ...asked, limit: MAX_LISTED },
    {
      sql: `select ${columns} from connections where workspace_id = $1`,
      values: [workspaceId],
    },
  )
  const sources = await tx.rows<Source>(
    `select ${sourceColumns} from sources where workspace_id = $1 order by source_id`,
    [workspaceId],
  )
  const byConnection = Map.groupBy(sources, (source) => source.connection_id)
  return rows.map((row) => withSources(row, byConnection.get(row.connection_id) ?? []))
}

/** Keeps the order of the schema, so that the same connection always has the same bytes. */
function withSources(row: Row, sources: Source[]): Connection {
  const {
    connection_id,
    name,
    kind,
    config,
    allow_write,
    status,
    problem,
    credential,
    owner_id,
    checked_at,
    created_at,
    updated_at,
  } = row
  return {
    connection_id,
    name,
    kind,
    config,
    allow_write,
    status,
    problem,
    credential,
    sources,
    owner_id,
    checked_at,
    created_at,
    updated_at,
  }
}

export const findConnection = async (
  tx: Tx,
  workspaceId: string,
  connectionId: string,
): Promise<Connection | undefined> => {
  const row = await tx.maybe<Row>(`select ${columns} from connections where workspace_id = $1 and connection_id = $2`, [
    workspaceId,
    connectionId,
  ])
  return row && withSources(row, await listSources(tx, workspaceId, connectionId))
}

export const findUsable = (tx: Tx, workspaceId: string, connectionId: string): Promise<Usable | undefined> =>
  tx.maybe<Usable>(
    `select connection_id, name, kind, config, allow_write, status, secrets, owner_id from connections
     where workspace_id = $1 and connection_id = $2`,
    [workspaceId, connectionId],
  )

export const insertConnection = (
  tx: Tx,
  workspaceId: string,
  connection: {
    connection_id: string
    name: string
    kind: WarehouseKind
    config: JsonObject
    secrets: Buffer
    owner_id: string
    allow_write: boolean
  },
): Promise<number> =>
  tx.count(
    `insert into connections (workspace_id, connection_id, name, kind, config, status, secrets, owner_id, allow_write)
     values ($1, $2, $3, $4, $5, 'active', $6, $7, $8)`,
    [
      workspaceId,
      connection.connection_id,
      connection.name,
      connection.kind,
      connection.config,
      connection.secrets,
      connection.owner_id,
      connection.allow_write,
    ],
  )

export const updateConnection = (
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  { name, allow_write }: { name: string | undefined; allow_write: boolean | undefined },
): Promise<number> =>
  tx.count(
    `update connections set name = coalesce($3, name), allow_write = coalesce($4, allow_write), updated_at = now()
     where workspace_id = $1 and connection_id = $2`,
    [workspaceId, connectionId, name ?? null, allow_write ?? null],
  )

/** Records the outcome of a probe. A connection that was revoked in the meantime stays revoked. */
export const recordProbe = (
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  problem: { step: string; message: string } | null,
): Promise<number> =>
  tx.count(
    `update connections set status = $3, problem = $4, checked_at = now(), updated_at = now()
     where workspace_id = $1 and connection_id = $2 and status <> 'revoked'`,
    [workspaceId, connectionId, problem === null ? 'active' : 'failing', problem],
  )

export const revokeConnection = (tx: Tx, workspaceId: string, connectionId: string): Promise<number> =>
  tx.count(
    `update connections set status = 'revoked', secrets = null, problem = null, updated_at = now()
     where workspace_id = $1 and connection_id = $2 and status <> 'revoked'`,
    [workspaceId, connectionId],
  )

export const rearmConnection = (
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  { config, secrets }: { config: JsonObject; secrets: Buffer },
): Promise<number> =>
  tx.count(
    `update connections set status = 'active', problem = null, config = $3, secrets = $4, checked_at = now(), updated_at = now()
     where workspace_id = $1 and connection_id = $2`,
    [workspaceId, connectionId, config, secrets],
  )

const listSources = (tx: Tx, workspaceId: string, connectionId: string): Promise<Source[]> =>
  tx.rows<Source>(
    `select ${sourceColumns} from sources where workspace_id = $1 and connection_id = $2 order by source_id`,
    [workspaceId, connectionId],
  )

export const pageSources = (tx: Tx, workspaceId: string, connectionId: string, asked: ListInput) =>
  readList<Source>(tx, sourceList, asked, {
    sql: `select ${sourceColumns} from sources where workspace_id = $1 and connection_id = $2`,
    values: [workspaceId, connectionId],
  })

export const findSource = (tx: Tx, workspaceId: string, sourceId: string): Promise<Source | undefined> =>
  tx.maybe<Source>(`select ${sourceColumns} from sources where workspace_id = $1 and source_id = $2`, [
    workspaceId,
    sourceId,
  ])

export const insertSource = (
  tx: Tx,
  workspaceId: string,
  source: {
    source_id: string
    connection_id: string
    name: string
    table: string | null
    query: string | null
    cursor: string | null
    created_by: string
  },
): Promise<Source> =>
  tx.row<Source>(
    `insert into sources (workspace_id, source_id, connection_id, name, "table", query, created_by, cursor_column)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${sourceColumns}`,
    [
      workspaceId,
      source.source_id,
      source.connection_id,
      source.name,
      source.table,
      source.query,
      source.created_by,
      source.cursor,
    ],
  )

export const deleteSource = (tx: Tx, workspaceId: string, sourceId: string): Promise<number> =>
  tx.count('delete from sources where workspace_id = $1 and source_id = $2', [workspaceId, sourceId])

export const listOfferedKinds = async (tx: Tx, orgId: string): Promise<string[]> =>
  (await tx.rows<{ kind: string }>('select kind from org_connection_kinds where org_id = $1', [orgId])).map(
    ({ kind }) => kind,
  )

/** Returns the owners of the workspace, who are notified when a connection is revoked. */
export const listWorkspaceOwners = async (tx: Tx, workspaceId: string): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(`select user_id from memberships where workspace_id = $1 and role = 'owner'`, [
      workspaceId,
    ])
  ).map(({ user_id }) => user_id)
