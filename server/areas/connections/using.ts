import type { Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { Problem, problem } from '#platform/errors'
import type { Vault } from '#platform/secrets'
import { bindVerbs } from '#platform/verbs'
import {
  type Executed,
  type Query,
  type QueryResult,
  type Rows,
  type Step,
  type Target,
  type Warehouse,
  WarehouseFailure,
  type Warehouses,
} from '#providers/warehouse/index'
import type { Source } from './schema.ts'
import * as store from './store.ts'

// The only place where a stored secret is opened: for its workspace, its row and the destination for which it was
// stored.

export const PROBE_WITHIN = 20 * SECOND

export const steps: Record<Step, string> = {
  resolve: 'resolve',
  connect: 'connect',
  tls: 'TLS',
  sign_in: 'sign in',
  read: 'read',
  write: 'write',
}

/**
 * Returns the problem for a failed probe or query. It names the failed step, so that the user knows what to correct.
 */
export const failedAt = (
  failure: WarehouseFailure,
  detail = 'Correct it and try again; nothing was stored.',
): Problem =>
  new Problem('probe_failed', `The step "${steps[failure.step]}" failed: ${failure.message}. ${detail}`, {
    errors: [{ path: `/${failure.step}`, message: failure.message }],
  })

export const revoked = (name: string): Problem =>
  problem('connection_revoked', `The connection "${name}" was revoked. Store a new credential to use it again.`)

/** Reads only rows from this value of the column onwards, in the order of the column. */
export type FromCursor = { column: string; value: Json | undefined }

export type QueryOptions = Omit<Query, 'text'> & ({ text: string } | { table: string }) & { from?: FromCursor }

function readingOf(warehouse: Warehouse, options: QueryOptions): Pick<Query, 'text' | 'params'> {
  const { from, params } = options
  const text = 'text' in options ? options.text : warehouse.readTable(options.table)
  if (from === undefined || warehouse.readFrom === undefined) return { text, ...(params !== undefined && { params }) }
  const isFirst = from.value === undefined
  return { text: warehouse.readFrom(text, from.column, isFirst), ...(!isFirst && { params: [from.value!] }) }
}

type Deps = { db: Database; vault: Vault; warehouses: Warehouses }

const placeOf = (workspaceId: string, connectionId: string, warehouse: Warehouse, config: JsonObject) =>
  [
    workspaceId,
    'connections',
    connectionId,
    `secrets for ${warehouse.kind} at ${warehouse.destination(config)}`,
  ] as const

export function seal(
  { vault }: Deps,
  workspaceId: string,
  connectionId: string,
  warehouse: Warehouse,
  target: Omit<Target, 'workspaceId'>,
): Buffer {
  return vault.seal(placeOf(workspaceId, connectionId, warehouse, target.config), JSON.stringify(target.secrets))
}

function open({ vault, warehouses }: Deps, workspaceId: string, connection: store.Usable): Target {
  const { kind, config, secrets, connection_id } = connection
  if (secrets === null) throw revoked(connection.name)
  try {
    const opened = vault.open(placeOf(workspaceId, connection_id, warehouses[kind], config), secrets)
    return { workspaceId, config, secrets: JSON.parse(opened) as Record<string, string> }
  } catch {
    throw new WarehouseFailure('sign_in', 'the credential was stored for another host; store it again')
  }
}

const find = async ({ db }: Deps, workspaceId: string, connectionId: string): Promise<store.Usable | undefined> =>
  db.tenant({ workspaceId, userId: null }, (tx) => store.findUsable(tx, workspaceId, connectionId))

const note = (
  { db }: Deps,
  workspaceId: string,
  connectionId: string,
  failure: WarehouseFailure | null,
): Promise<number> =>
  db.tenant({ workspaceId, userId: null }, (tx) =>
    store.recordProbe(tx, workspaceId, connectionId, failure && { step: failure.step, message: failure.message }),
  )

/**
 * Streams the rows of a connection. Returns undefined if the workspace has no such connection. Throws
 * `connection_revoked` if its credential was erased, and a WarehouseFailure if the warehouse refuses. Records on the
 * connection that a credential stopped working.
 */
export async function queryConnection(
  deps: Deps,
  workspaceId: string,
  connectionId: string,
  options: QueryOptions,
): Promise<QueryResult | undefined> {
  const connection = await find(deps, workspaceId, connectionId)
  if (connection === undefined) return undefined
  const warehouse = deps.warehouses[connection.kind]
  try {
    const target = open(deps, workspaceId, connection)
    const { limit, maxBytes, timeoutMs, signal } = options
    const { text, params } = readingOf(warehouse, options)
    const result = await warehouse.query(target, {
      text,
      limit,
      timeoutMs,
      signal,
      ...(params !== undefined && { params }),
      ...(maxBytes !== undefined && { maxBytes }),
    })
    if (connection.status === 'failing') await note(deps, workspaceId, connectionId, null)
    return result
  } catch (error) {
    if (error instanceof WarehouseFailure && error.step !== 'read') await note(deps, workspaceId, connectionId, error)
    throw error
  }
}

/**
 * Runs statements or writes rows through a connection that allows writing. Undefined if the workspace has no such
 * connection.
 */
export async function executeOnConnection(
  deps: Deps,
  workspaceId: string,
  connectionId: string,
  what: { statement: string; params: Json[] } | Rows,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<Executed | 'read only' | undefined> {
  const connection = await find(deps, workspaceId, connectionId)
  if (connection === undefined) return undefined
  const warehouse = deps.warehouses[connection.kind]
  if (!connection.allow_write || warehouse.execute === undefined || warehouse.writing === undefined) return 'read only'
  const target = open(deps, workspaceId, connection)
  const statements =
    'statement' in what
      ? [{ text: what.statement, params: what.params }]
      : what.rows.length === 0
        ? []
        : warehouse.writing.statementsFor(what)
  if (statements.length === 0) return { affected: [0] }
  try {
    return await warehouse.execute(target, { statements, ...limits, beyond: async () => {} })
  } catch (error) {
    const isBroken = error instanceof WarehouseFailure && error.step !== 'write' && error.step !== 'read'
    if (isBroken) await note(deps, workspaceId, connectionId, error)
    throw error
  }
}

export async function probe(
  deps: Deps,
  workspaceId: string,
  connection: store.Usable,
  signal: AbortSignal,
): Promise<WarehouseFailure | null> {
  try {
    const target = open(deps, workspaceId, connection)
    await deps.warehouses[connection.kind].probe(target, { timeoutMs: PROBE_WITHIN, signal })
    return null
  } catch (error) {
    if (error instanceof WarehouseFailure) return error
    throw error
  }
}

/** Like `queryConnection`, for the table or the query of an attached source. */
export async function querySource(
  deps: Deps,
  workspaceId: string,
  sourceId: string,
  options: Omit<Query, 'text' | 'params'>,
): Promise<(QueryResult & { source: Source }) | undefined> {
  const source = await deps.db.tenant({ workspaceId, userId: null }, (tx) =>
    store.findSource(tx, workspaceId, sourceId),
  )
  if (source === undefined) return undefined
  const what = source.query !== null ? { text: source.query } : { table: source.table! }
  const result = await queryConnection(deps, workspaceId, source.connection_id, { ...what, ...options })
  return result && { ...result, source }
}

const verbsOfUse = {
  seal,
  executeOnConnection,
  probe,
  queryConnection,
  querySource,
}

export function makeConnectionUse(dependencies: Deps) {
  return bindVerbs<Deps, typeof verbsOfUse>(dependencies, verbsOfUse)
}

export type ConnectionUse = ReturnType<typeof makeConnectionUse>
