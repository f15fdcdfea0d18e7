import type { FlowSettings } from '#engine/flow/rules'
import type { WaitRequest } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'

export type Wait = {
  workspace_id: string
  wait_id: string
  execution_id: string
  node_path: string
  node_id: string
  key: string | null
  schema: Json
  status: 'open' | 'received' | 'expired' | 'cancelled'
  on_due: 'fail' | 'continue'
  output: Json
  due_at: Date | null
}

/** Sorts before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export type Incoming = { event_id: string; name: string | null; data: Json; callback_hash: Buffer | null }
export type Where = Pick<WaitRequest, 'workspaceId' | 'executionId' | 'nodePath'>

/**
 * Prevents a race between storing a kept event and opening a wait for it. The event takes the lock exclusively; waits
 * share it.
 */
export const lockKey = (tx: Tx, workspaceId: string, text: string, shared: boolean): Promise<unknown> =>
  tx.rows(
    shared
      ? 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))'
      : 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    [`event:${workspaceId}:${text}`],
  )

export const lockLatest = (tx: Tx, { workspaceId, executionId, nodePath }: Where): Promise<Wait | undefined> =>
  tx.maybe<Wait>(
    `select * from event_waits where workspace_id = $1 and execution_id = $2 and node_path = $3 and status <> 'cancelled'
     order by wait_id desc limit 1 for update`,
    [workspaceId, executionId, nodePath],
  )

export const insertWait = (tx: Tx, { args, ...wait }: WaitRequest, callbackHash: Buffer): Promise<Wait> =>
  tx.row<Wait>(
    `insert into event_waits (workspace_id, wait_id, execution_id, workflow_id, node_path, node_id, key, callback_hash, schema, on_due, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, date_trunc('milliseconds', now() + make_interval(secs => $11))) returning *`,
    [
      wait.workspaceId,
      newId(),
      wait.executionId,
      wait.workflowId,
      wait.nodePath,
      wait.nodeId,
      args.key ?? null,
      callbackHash,
      JSON.stringify(args.schema ?? {}),
      args.on_due ?? 'fail',
      typeof args.due_in_s === 'number' ? args.due_in_s : null,
    ],
  )

/**
 * A wait without its schema. A schema has up to a megabyte and many waits have the same one, so each schema is read
 * once by its hash. A small schema is included, which saves the query.
 */
export type OpenWait = Omit<Wait, 'schema' | 'output'> & { schema_hash: string; small_schema: Json | null }

/** Locks open waits for a key, oldest first, up to `limit` at a time. */
export const lockWaits = (
  tx: Tx,
  workspaceId: string,
  key: string,
  after: string,
  limit: number,
): Promise<OpenWait[]> =>
  tx.rows<OpenWait>(
    `select workspace_id, wait_id, execution_id, node_path, node_id, key, status, on_due, due_at, md5(schema::text) as schema_hash,
       case when length(schema::text) <= 400 then schema end as small_schema
     from event_waits where workspace_id = $1 and key = $2 and status = 'open' and wait_id > $3 order by wait_id limit $4 for update`,
    [workspaceId, key, after, limit],
  )

export const readSchema = async (tx: Tx, { workspace_id, wait_id }: Pick<Wait, 'workspace_id' | 'wait_id'>) =>
  (
    await tx.row<{ schema: Json }>('select schema from event_waits where workspace_id = $1 and wait_id = $2', [
      workspace_id,
      wait_id,
    ])
  ).schema

export const lockByCallback = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  callbackHash: Buffer,
): Promise<Wait | undefined> =>
  tx.maybe<Wait>(
    `select * from event_waits where workspace_id = $1 and execution_id = $2 and callback_hash = $3 and status <> 'cancelled'
     order by wait_id desc limit 1 for update`,
    [workspaceId, executionId, callbackHash],
  )

/** Sent together with the commit, because its result is not needed. */
export const sendEnded = (
  tx: Tx,
  wait: Pick<Wait, 'workspace_id' | 'wait_id'>,
  status: 'received' | 'expired',
  output: Json,
  eventId: string | null,
): void =>
  tx.send(
    `update event_waits set status = $3, output = $4, event_id = $5, ended_at = now() where workspace_id = $1 and wait_id = $2`,
    [wait.workspace_id, wait.wait_id, status, JSON.stringify(output), eventId],
  )

export const cancelOpen = (tx: Tx, workspaceId: string, executionId: string, path?: string): Promise<number> =>
  tx.count(
    `update event_waits set status = 'cancelled', ended_at = now() where workspace_id = $1 and execution_id = $2 and status = 'open'
       and ($3::text is null or case when right($3, 1) in ('[', '.') then starts_with(node_path, $3) else node_path = $3 end)`,
    [workspaceId, executionId, path ?? null],
  )

/**
 * Returns the oldest kept event after `after` that a new wait may receive and that its execution has not received yet.
 * Returns one event at a time, because each has up to a megabyte.
 */
export const nextKept = (tx: Tx, wait: Wait, callbackHash: Buffer, after: string): Promise<Incoming | undefined> =>
  tx.maybe<Incoming>(
    `select event_id, name, data, callback_hash from incoming_events i
     where workspace_id = $1 and keep_until > now() and (key = $2 or (execution_id = $3 and callback_hash = $4)) and event_id > $5
       and not exists (select from event_waits w where w.workspace_id = $1 and w.execution_id = $3 and w.event_id = i.event_id)
     order by event_id limit 1`,
    [wait.workspace_id, wait.key, wait.execution_id, callbackHash, after],
  )

/** Counts the kept events (up to `limit`) and their stored size. */
export const measureKept = (tx: Tx, workspaceId: string, limit: number): Promise<{ kept: number; bytes: number }> =>
  tx.row<{ kept: number; bytes: number }>(
    `select count(*)::integer as kept, coalesce(sum(bytes), 0)::float8 as bytes from (
       select pg_column_size(data) as bytes from incoming_events where workspace_id = $1 and keep_until > now() limit $2) as kept`,
    [workspaceId, limit],
  )

/** Returns false if an event with this id already exists. */
export const insertIncoming = async (
  tx: Tx,
  workspaceId: string,
  event: {
    event_id: string
    id_hash: Buffer | null
    key?: string | undefined
    name?: string | undefined
    execution_id?: string
    callback_hash?: Buffer
    data: unknown
    keep_s: number
  },
): Promise<boolean> =>
  (await tx.count(
    `insert into incoming_events (workspace_id, event_id, id_hash, key, name, execution_id, callback_hash, data, keep_until)
     values ($1, $2, $3, $4, $5, $6, $7, $8, case when $9 > 0 then now() + make_interval(secs => $9) end)
     on conflict (workspace_id, id_hash) where id_hash is not null do nothing`,
    [
      workspaceId,
      event.event_id,
      event.id_hash,
      event.key ?? null,
      event.name ?? null,
      event.execution_id ?? null,
      event.callback_hash ?? null,
      event.keep_s > 0 ? JSON.stringify(event.data ?? null) : null,
      event.keep_s,
    ],
  )) > 0

export const deleteIncoming = (tx: Tx, workspaceId: string, eventId: string): Promise<number> =>
  tx.count('delete from incoming_events where workspace_id = $1 and event_id = $2', [workspaceId, eventId])

export const writeAnswer = (tx: Tx, workspaceId: string, eventId: string, answer: unknown): Promise<number> =>
  tx.count('update incoming_events set answer = $3 where workspace_id = $1 and event_id = $2', [
    workspaceId,
    eventId,
    JSON.stringify(answer),
  ])

export const findAnswer = <T>(tx: Tx, workspaceId: string, idHash: Buffer): Promise<{ answer: T } | undefined> =>
  tx.maybe<{ answer: T }>('select answer from incoming_events where workspace_id = $1 and id_hash = $2', [
    workspaceId,
    idHash,
  ])

export type Subscriber = {
  workflow_id: string
  version_id: string | null
  settings: FlowSettings & { timeout_s?: number }
  activation_required: boolean
  principal_id: string | null
}

export const listSubscribers = (tx: Tx, workspaceId: string, name: string, limit: number): Promise<Subscriber[]> =>
  tx.rows<Subscriber>(
    `select w.workflow_id, w.settings, w.activation_required, v.version_id,
       coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id
     from workflows w left join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active
     where w.workspace_id = $1 and w.deleted_at is null and w.settings ? 'on_event' and w.settings -> 'on_event' ? $2
     order by w.workflow_id limit $3`,
    [workspaceId, name, limit],
  )

/** Reads one version at a time, because a definition has up to a megabyte. */
export const readInputs = async (tx: Tx, workspaceId: string, versionId: string): Promise<Json> =>
  (
    await tx.row<{ inputs: Json }>(
      `select definition -> 'inputs' as inputs from workflow_versions where workspace_id = $1 and version_id = $2`,
      [workspaceId, versionId],
    )
  ).inputs

export const isUnderWay = async (tx: Tx, workspaceId: string, executionId: string): Promise<boolean> =>
  (await tx.maybe(
    `select from executions where workspace_id = $1 and execution_id = $2 and status in ('queued', 'running', 'waiting')`,
    [workspaceId, executionId],
  )) !== undefined
