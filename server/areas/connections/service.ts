import type { z } from 'zod'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { MINUTE } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { type FieldError, invalid, problem, unknownReference } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import { type Context, scopeOf } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { type Warehouse, WarehouseFailure, type Warehouses, warehouseKinds } from '#providers/warehouse/index'
import type { Connection, ConnectionPatch, Credential, NewConnection, NewSource, Source } from './schema.ts'
import * as store from './store.ts'
import { browseTables, previewTable } from './tables.ts'
import { type ConnectionUse, failedAt, PROBE_WITHIN, revoked } from './using.ts'

type ById = { connection_id: string }
type Secrets = Record<string, string>

const standing =
  (find: (tx: Tx, workspaceId: string, id: string) => Promise<unknown>): FindAccessLevel =>
  async (ctx, id) => {
    if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
    return (await find(ctx.tx, ctx.workspace.workspace_id, id)) === undefined ? undefined : ctx.workspace.role
  }
export const accessLevelInConnection = standing(store.findUsable)
export const accessLevelInSource = standing(store.findSource)

/**
 * What the jobs do when a connection changes, inside the transaction that changed it. The composition root provides
 * these hooks. They return nothing, because the person who revokes the connection or reads the audit log may not be
 * allowed to see the jobs, nor even their number.
 */
export type JobHooks = {
  /** Pauses the jobs that read through the connection, with `connection_revoked`, and notifies their owners. */
  pauseJobsUsing(tx: Tx, workspaceId: string, connectionId: string): Promise<void>
  /** Resumes the paused jobs for which no other credential is missing. */
  resumeJobsUsing(tx: Tx, workspaceId: string): Promise<void>
}

/** The timeout for capturing a source. */
const CAPTURE_WITHIN = 15 * MINUTE
const MAX_CAPTURED = 1_000_000

export type ConnectionsOptions = { use: ConnectionUse; warehouses: Warehouses; jobs: JobHooks }

const inScope = <T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> => ctx.db.tenant(scopeOf(ctx), work)

const found = async (ctx: Context, tx: Tx, connectionId: string): Promise<Connection> => {
  const connection = await store.findConnection(tx, ctx.workspace.workspace_id, connectionId)
  if (!connection) throw problem('not_found')
  return connection
}

const usable = async (ctx: Context, connectionId: string): Promise<store.Usable> => {
  const connection = await inScope(ctx, (tx) => store.findUsable(tx, ctx.workspace.workspace_id, connectionId))
  if (!connection) throw problem('not_found')
  return connection
}

const offered = async ({ warehouses }: ConnectionsOptions, tx: Tx, orgId: string): Promise<Warehouse[]> => {
  const chosen = await store.listOfferedKinds(tx, orgId)
  return warehouseKinds.filter((kind) => chosen.length === 0 || chosen.includes(kind)).map((kind) => warehouses[kind])
}

/** Probes the connection. Only a connection that works is stored. */
async function requireWorking(ctx: Context, warehouse: Warehouse, config: JsonObject, secrets: Secrets): Promise<void> {
  const { workspace_id: workspaceId } = ctx.workspace
  try {
    await warehouse.probe({ workspaceId, config, secrets }, { timeoutMs: PROBE_WITHIN, signal: ctx.stepAside() })
  } catch (error) {
    throw error instanceof WarehouseFailure ? failedAt(error) : error
  }
}

export async function listConnections(deps: ConnectionsOptions, ctx: Context, asked: Omit<ListInput, 'limit'>) {
  const items = await store.listConnections(ctx.tx, ctx.workspace.workspace_id, asked)
  const kinds = (await offered(deps, ctx.tx, ctx.org.org_id)).map(
    ({ kind, title, config_schema, secret_fields, execute }) => ({
      kind,
      title,
      config_schema,
      can_write: execute !== undefined,
      secret_fields,
    }),
  )
  return { items, kinds }
}

export async function createConnection(
  deps: ConnectionsOptions,
  ctx: Context,
  input: z.output<typeof NewConnection>,
): Promise<Connection> {
  const workspaceId = ctx.workspace.workspace_id
  const kinds = await inScope(ctx, (tx) => offered(deps, tx, ctx.org.org_id))
  const warehouse = kinds.find(({ kind }) => kind === input.kind)
  if (!warehouse) throw invalid([{ path: '/kind', message: 'is not available here' }])
  const config = input.config as JsonObject
  const secrets = input.secrets ?? {}
  check(warehouse, config, secrets)
  if (input.allow_write) requireWritable(warehouse, config)
  await requireWorking(ctx, warehouse, config, secrets)
  const connectionId = newId()
  return inScope(ctx, async (tx) => {
    await store.insertConnection(tx, workspaceId, {
      connection_id: connectionId,
      name: input.name,
      kind: input.kind,
      config,
      secrets: deps.use.seal(workspaceId, connectionId, warehouse, { config, secrets }),
      owner_id: ctx.person.user_id,
      allow_write: input.allow_write,
    })
    await recordAudit(ctx, tx, { action: 'connection.created', subject: toWire('conn', connectionId) })
    return found(ctx, tx, connectionId)
  })
}

export const getConnection = (ctx: Context, { connection_id }: ById): Promise<Connection> =>
  inScope(ctx, (tx) => found(ctx, tx, connection_id))

/** Only the owner of a connection and owners of the workspace may change whether it allows writing. */
export const updateConnection = (
  { warehouses }: ConnectionsOptions,
  ctx: Context,
  input: ById & z.output<typeof ConnectionPatch>,
): Promise<Connection> =>
  inScope(ctx, async (tx) => {
    const { connection_id, name, allow_write } = input
    const { workspace_id, role } = ctx.workspace
    const connection = await found(ctx, tx, connection_id)
    if (allow_write !== undefined && allow_write !== connection.allow_write) {
      if (role !== 'owner' && connection.owner_id !== ctx.person.user_id)
        throw problem(
          'forbidden',
          'Only the owner of the connection and owners of the workspace may change allow_write.',
        )
      if (allow_write) requireWritable(warehouses[connection.kind], connection.config as JsonObject)
    }
    await store.updateConnection(tx, workspace_id, connection_id, { name, allow_write })
    const subject = toWire('conn', connection_id)
    const data = { ...(allow_write !== undefined && { allow_write }) }
    await recordAudit(ctx, tx, { action: 'connection.updated', subject, data })
    return found(ctx, tx, connection_id)
  })

/** Probes the connection again. The response is 200 whether the probe succeeds or not. */
export async function verifyConnection(
  { use }: ConnectionsOptions,
  ctx: Context,
  { connection_id }: ById,
): Promise<Connection> {
  const connection = await usable(ctx, connection_id)
  if (connection.status === 'revoked') throw revoked(connection.name)
  const { workspace_id } = ctx.workspace
  const failure = await use.probe(workspace_id, connection, ctx.stepAside())
  return inScope(ctx, async (tx) => {
    const outcome = failure && { step: failure.step, message: failure.message }
    await store.recordProbe(tx, workspace_id, connection_id, outcome)
    return found(ctx, tx, connection_id)
  })
}

/** Erases the secret. The connection and its sources stay, and the jobs that read through it pause. */
export const revokeConnection = ({ jobs }: ConnectionsOptions, ctx: Context, { connection_id }: ById): Promise<void> =>
  inScope(ctx, async (tx) => {
    const { workspace_id } = ctx.workspace
    const connection = await found(ctx, tx, connection_id)
    if ((await store.revokeConnection(tx, workspace_id, connection_id)) === 0) return
    await jobs.pauseJobsUsing(tx, workspace_id, connection_id)
    await recordAudit(ctx, tx, { action: 'connection.revoked', subject: toWire('conn', connection_id) })
    await notifyRevoked(ctx, tx, connection)
  })

/** Stores a new credential after a successful probe, replacing the old one if there is one. */
export async function rearmConnection(
  { use, warehouses, jobs }: ConnectionsOptions,
  ctx: Context,
  input: ById & z.output<typeof Credential>,
): Promise<Connection> {
  const { workspace_id } = ctx.workspace
  const { connection_id } = input
  const connection = await usable(ctx, connection_id)
  const warehouse = warehouses[connection.kind]
  // Every change of the config requires new secrets, so that a stored secret is never sent to another host.
  const config = (input.config as JsonObject | undefined) ?? connection.config
  const secrets = input.secrets ?? {}
  check(warehouse, config, secrets)
  await requireWorking(ctx, warehouse, config, secrets)
  return inScope(ctx, async (tx) => {
    const sealed = use.seal(workspace_id, connection_id, warehouse, { config, secrets })
    await store.rearmConnection(tx, workspace_id, connection_id, { config, secrets: sealed })
    await jobs.resumeJobsUsing(tx, workspace_id)
    await recordAudit(ctx, tx, { action: 'connection.credential_stored', subject: toWire('conn', connection_id) })
    return found(ctx, tx, connection_id)
  })
}

export const listSources = (ctx: Context, { connection_id, ...asked }: ById & ListInput) =>
  store.pageSources(ctx.tx, ctx.workspace.workspace_id, connection_id, asked)

export async function createSource(
  { warehouses }: ConnectionsOptions,
  ctx: Context,
  input: ById & z.output<typeof NewSource>,
): Promise<Source> {
  const { workspace_id } = ctx.workspace
  const connection = await found(ctx, ctx.tx, input.connection_id)
  if (connection.status === 'revoked') throw revoked(connection.name)
  if (input.table !== undefined) requireTable(warehouses[connection.kind], input.table)
  if (input.cursor !== undefined) requireCursor(warehouses[connection.kind], input.cursor)
  return store.insertSource(ctx.tx, workspace_id, {
    source_id: newId(),
    connection_id: input.connection_id,
    name: input.name,
    table: input.table ?? null,
    query: input.query ?? null,
    cursor: input.cursor ?? null,
    created_by: ctx.person.user_id,
  })
}

export async function getSource(ctx: Context, { source_id }: { source_id: string }): Promise<Source> {
  const source = await store.findSource(ctx.tx, ctx.workspace.workspace_id, source_id)
  if (!source) throw problem('not_found')
  return source
}

export async function deleteSource(ctx: Context, { source_id }: { source_id: string }): Promise<void> {
  await store.deleteSource(ctx.tx, ctx.workspace.workspace_id, source_id)
}

/** Reads the current rows of a source for a capture. Failures are reported as problems of the HTTP request. */
export async function readSource(
  { use }: ConnectionsOptions,
  ctx: Context,
  sourceId: string,
  options: { limit?: number; signal: AbortSignal },
) {
  const { workspace_id } = ctx.workspace
  try {
    // One more than the maximum of a dataset, so that a larger source is refused and never truncated silently.
    const limit = options.limit ?? MAX_CAPTURED + 1
    const read = { limit, timeoutMs: CAPTURE_WITHIN, signal: options.signal }
    const result = await use.querySource(workspace_id, sourceId, read)
    if (!result) throw unknownReference('/source_id')
    return { name: result.source.name, pages: told(result.pages) }
  } catch (error) {
    throw error instanceof WarehouseFailure ? failedAt(error) : error
  }
}

const verbsOfConnections = {
  listConnections,
  createConnection,
  updateConnection,
  verifyConnection,
  revokeConnection,
  rearmConnection,
  createSource,
  readSource,
  browseTables,
  previewTable,
}

export function makeConnections(dependencies: ConnectionsOptions) {
  return {
    ...bindVerbs<ConnectionsOptions, typeof verbsOfConnections>(dependencies, verbsOfConnections),
    getConnection,
    listSources,
    getSource,
    deleteSource,
  }
}

export type Connections = ReturnType<typeof makeConnections>

async function* told<T>(pages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* pages
  } catch (error) {
    throw error instanceof WarehouseFailure ? failedAt(error) : error
  }
}

function check(warehouse: Warehouse, config: JsonObject, secrets: Secrets): void {
  const errors: FieldError[] = validateJson(warehouse.config_schema as Json, config).map(({ path, message }) => ({
    path: `/config${path}`,
    message,
  }))
  const known = new Set(warehouse.secret_fields.map(({ name }) => name))
  for (const name of Object.keys(secrets))
    if (!known.has(name)) errors.push({ path: `/secrets/${name}`, message: 'is not a known field' })
  for (const { name, required } of warehouse.secret_fields)
    if (required && !secrets[name]) errors.push({ path: `/secrets/${name}`, message: 'is required' })
  if (errors.length > 0) throw invalid(errors)
}

function requireWritable(warehouse: Warehouse, config: JsonObject): void {
  const reason =
    warehouse.execute === undefined
      ? `connections to ${warehouse.title} are read-only`
      : (warehouse.whyReadOnly?.(config) ?? null)
  if (reason !== null) throw invalid([{ path: '/allow_write', message: reason }])
}

function requireCursor(warehouse: Warehouse, column: string): void {
  if (warehouse.readFrom === undefined)
    throw invalid([{ path: '/cursor', message: `connections to ${warehouse.title} have no cursors` }])
  try {
    warehouse.readFrom('select 1', column, true)
  } catch {
    throw invalid([{ path: '/cursor', message: 'is not the name of a column' }])
  }
}

function requireTable(warehouse: Warehouse, table: string): void {
  try {
    warehouse.readTable(table)
  } catch (error) {
    throw invalid([{ path: '/table', message: (error as Error).message }])
  }
}

/**
 * Notifies the owners of the connection and the workspace, but not the person who revoked it. Owners of paused jobs
 * are notified separately.
 */
async function notifyRevoked(ctx: Context, tx: Tx, connection: Connection): Promise<void> {
  const { workspace_id } = ctx.workspace
  const everybody = new Set([...(await store.listWorkspaceOwners(tx, workspace_id)), connection.owner_id ?? ''])
  everybody.delete('')
  everybody.delete(ctx.person.user_id)
  await deliverEvent(tx, {
    workspaceId: workspace_id,
    kind: 'connection.revoked',
    title: `The connection "${connection.name}" was revoked`,
    body: 'Its credential was erased. Store a new one to use it again.',
    data: { connection_id: toWire('conn', connection.connection_id) },
    link: '/connections',
    to: [...everybody],
  })
}
