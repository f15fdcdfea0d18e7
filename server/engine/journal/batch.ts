import type { ExecutionError, ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { GateRow } from '../flow/gate.ts'
import type { GraphState, JournalEvent } from '../interpreter/state.ts'
import type { BlobRef, Initiator, StartLabels, StartTarget, TriggerKind, WaitingFor } from '../ports.ts'
import type { EventText } from './short-events.ts'

/** The update of an execution's row. Only the fields of the new status are written; the others are cleared. */
export type RowUpdate = {
  status: ExecutionStatus
  /** The number of messages read so far. With `parking`, the move is applied only if there are no further messages. */
  seen: number
  parking?: boolean
  /** Milliseconds of the database clock. */
  dueAt?: number | null
  waitingFor?: WaitingFor[]
  snapshot?: GraphState
  results?: Json
  resultsBlob?: BlobRef
  error?: ExecutionError
  finishedAt?: number
  tellEnd?: boolean
}

export type StartRow = StartTarget & {
  input: Json
  /** The approximate size of the row. It limits the number of large rows in a statement. */
  bytes?: number
  trigger: { kind: TriggerKind; id: string | null }
  startedBy: string | null
  initiatedBy: Initiator[]
  retryOf?: string | null
  parent?: { executionId: string; node: string } | null
  depth: number
  tellEnd: boolean
  snapshot?: GraphState
  key?: { credentialHash: Buffer; keyHash: Buffer; bodySha256: Buffer }
  labels?: StartLabels | undefined
  /** The start time, or the number of seconds to wait after the request. */
  startAt?: number | undefined
  startInS?: number | undefined
  /** Set if rules of the workflow decide when the execution starts. */
  gate?: GateRow | undefined
}

export type ItemRow = {
  path: string
  index: number
  status: 'running' | 'waiting' | 'succeeded' | 'failed'
  state?: GraphState
  output?: Json
  error?: ExecutionError
  dueAt?: number | null
  /** The usage of models by the item so far. */
  usage?: JsonObject
}

/** Everything that one execution writes at once. */
export type Append = {
  workspaceId: string
  executionId: string
  epoch: number
  /** The number of the first event. */
  seq: number
  events: JournalEvent[]
  start?: StartRow
  rowUpdate?: RowUpdate
  items?: ItemRow[]
}

export type Encoded = Append & { bytes: number; texts: EventText[] }

// The fence: nothing is written unless the row of the worker exists, is alive, and is locked against a worker that
// would declare it dead. The generation is that of the list of workspaces that send events to destinations
// (event-workspaces.ts).
const FENCE = `fence as materialized (select worker_id from workers where worker_id = $1 and not dead
    and (select generation from event_generation) = $8 for share)`

// `one` is always 1. It makes the planner expect a single row and therefore look up each execution by its key,
// however small the table was when the plan was made. Without it, a plan made on an empty database read the whole key
// index for each batch, and the cost of a commit grew with every ended execution. (A function that updates row by row
// costs 80 µs per row.)
// Every execution that a worker owns is running. The condition on the status keeps weeks in which every execution has
// ended out of the plan. It names two statuses, because with one the planner reads the index of running executions
// (all of the workspace, for each execution) instead of the key.
// `from` and `to` are the first and the last id of the batch. The weeks of other executions are left out when the
// statement starts: opening all of them took a tenth of its time with six weeks.
const movedOf = (json: string, from: string, to: string): string => `moved as (
  update executions e set status = r.status, seen = r.seen, crashes = 0,
      worker_id = case when r.status = 'running' then e.worker_id end,
      due_at = case when r.status = 'queued' then now() else to_timestamp(r.due_at / 1000) end,
      waiting_for = coalesce(r.waiting_for, '[]'),
      snapshot = case when r.finished_at is null then coalesce(r.snapshot, e.snapshot) end,
      snapshot_seq = case when r.finished_at is not null then 0 when r.snapshot is null then e.snapshot_seq
        else r.snapshot_seq end,
      results = r.results, results_blob = r.results_blob, error = r.error,
      finished_at = to_timestamp(r.finished_at / 1000), tell_end = e.tell_end or coalesce(r.tell_end, false)
  from fence, json_to_recordset(${json}::json) as r (one integer, workspace_id uuid, execution_id uuid, epoch integer,
    status text, seen integer, parking boolean, due_at double precision, waiting_for jsonb, snapshot json,
    snapshot_seq integer, results json, results_blob json, error json, finished_at double precision, tell_end boolean)
  where r.one = 1 and e.execution_id >= ${from} and e.execution_id <= ${to} and e.workspace_id = r.workspace_id and e.execution_id = r.execution_id and e.epoch = r.epoch
    and e.status in ('running', 'queued') and case when e.worker_id = $1 then true end and (not coalesce(r.parking, false) or e.inbox = r.seen)
  returning e.execution_id)`

const itemsOf = (json: string): string => `items as (
  insert into map_items (workspace_id, execution_id, path, index, status, state, output, error, due_at, usage)
  select r.workspace_id, r.execution_id, r.path, r.index, r.status, r.state, r.output, r.error, to_timestamp(r.due_at / 1000),
    r.usage
  from fence, json_to_recordset(${json}::json) as r (workspace_id uuid, execution_id uuid, path text, index integer,
    status text, state json, output json, error json, due_at double precision, usage json)
  on conflict (execution_id, path, index) do update set status = excluded.status, state = excluded.state,
    output = excluded.output, error = excluded.error, due_at = excluded.due_at, usage = excluded.usage)`

const EVENTS = `insert into events (execution_id, seq, workspace_id, at, type, data)
  select r.execution_id, r.seq, r.workspace_id, to_timestamp(r.at / 1000), r.type, r.data
  from fence, unnest($2::uuid[], $3::integer[], $4::uuid[], $5::double precision[], $6::text[], $7::json[])
    as r (execution_id, seq, workspace_id, at, type, data)`

// Written together with the events, for workspaces with destinations, in the order of the event numbers, which is the
// order of delivery.
const leftOf = (workspaces: string, types: string): string => `left_for as (
  insert into event_outbox (workspace_id, type, at, execution_id, seq)
  select a.workspace_id, a.type, a.at, a.execution_id, a.seq from added a
  where a.workspace_id = any (${workspaces}::uuid[]) and a.type = any (${types}::text[]) order by a.execution_id, a.seq)`
const RETURNING = 'returning workspace_id, type, at, execution_id, seq'

const startsOf = (
  json: string,
  columns: string,
): string => `starts as materialized (select * from json_to_recordset(${json}::json) as r (
    execution_id uuid, workspace_id uuid, workflow_id uuid,
    system_slug text, version_id uuid, definition_ref text, status text, input json, results json, results_blob json,
    error json, waiting_for jsonb, trigger_kind text, trigger_id text, started_by uuid, retry_of uuid,
    parent_execution_id uuid, parent_node text, finished_at double precision, timeout_s double precision,
    due_at double precision, snapshot json, snapshot_seq integer, tell_end boolean,
    depth smallint, principal_id uuid, initiated_by json, credential_hash bytea, key_hash bytea, body_sha256 bytea,
    priority smallint, tags text[], metadata json, scheduled_at double precision, schedule_id uuid, traceparent text${columns}))`

// The engine's tables have no table of workspaces. A deleted workspace is in a list, and no execution starts in it,
// even with a token that is still in use.
const NOT_GONE = 'not exists (select from gone_workspaces g where g.workspace_id = r.workspace_id)'

// A start and its first events are inserts, because a statement cannot update a row that it has just inserted. Keys
// are sorted, because two batches could otherwise wait for each other (deadlock).
const startedOf = (of: {
  json: string
  /** The additional columns of the JSON. */
  columns: string
  from: string
  worker: string
  startedAt: string
  status: string
  dueAt: string
  waitingFor: string
  /** The additional columns of the table, with their values. */
  more: [column: string, value: string][]
}): string => `${startsOf(of.json, of.columns)},
keyed as (
  insert into start_keys (credential_hash, key_hash, body_sha256, workspace_id, execution_id)
  select r.credential_hash, r.key_hash, r.body_sha256, r.workspace_id, r.execution_id from ${of.from}
  where r.key_hash is not null and ${NOT_GONE}
  on conflict (credential_hash, key_hash) do update set body_sha256 = excluded.body_sha256,
    workspace_id = excluded.workspace_id, execution_id = excluded.execution_id, created_at = now()
    where start_keys.created_at < now() - interval '24 hours'
  returning execution_id),
started as (
  insert into executions (execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
    results, results_blob, error, waiting_for, trigger_kind, trigger_id, started_by, retry_of, parent_execution_id,
    parent_node, started_at, finished_at, timeout_s, due_at, worker_id, snapshot, snapshot_seq, tell_end,
    depth, principal_id, initiated_by, priority, tags, metadata, scheduled_at, schedule_id, traceparent
    ${of.more.map(([column]) => `, ${column}`).join('')})
  select r.execution_id, r.workspace_id, r.workflow_id, r.system_slug, r.version_id, r.definition_ref, ${of.status}, r.input,
    r.results, r.results_blob, r.error, ${of.waitingFor}, r.trigger_kind, r.trigger_id, r.started_by,
    r.retry_of, r.parent_execution_id, r.parent_node, ${of.startedAt},
    -- One that ends as it starts ended by the worker's clock, a moment before the database wrote it: not before it started.
    case when r.finished_at is not null then greatest(to_timestamp(r.finished_at / 1000), now()) end, r.timeout_s,
    ${of.dueAt}, ${of.worker}, r.snapshot, coalesce(r.snapshot_seq, 0), coalesce(r.tell_end, false), r.depth,
    r.principal_id, r.initiated_by, r.priority, r.tags, r.metadata, to_timestamp(r.scheduled_at / 1000), r.schedule_id, r.traceparent
    ${of.more.map(([, value]) => `, ${value}`).join('')}
  from ${of.from}
  where (r.key_hash is null or r.execution_id in (select execution_id from keyed)) and ${NOT_GONE}
  on conflict do nothing returning execution_id)`

const STARTED = (json: string): string =>
  startedOf({
    json,
    columns: '',
    from: 'fence, starts r',
    worker: `case when r.status = 'running' then $1::uuid end`,
    startedAt: 'now()',
    status: 'r.status',
    dueAt: `case when r.status = 'queued' then now() else to_timestamp(r.due_at / 1000) end`,
    waitingFor: `coalesce(r.waiting_for, '[]')`,
    more: [],
  })

const NOT_REFUSED = `where r.execution_id not in (select execution_id from starts)
      or r.execution_id in (select execution_id from started)`

/**
 * The parts of a statement that not every batch needs. A part takes time to prepare in each execution of the statement,
 * even if it has no rows.
 */
export type CommitParts = { moves: boolean; items: boolean; leaves: boolean; starts: boolean }

const idsIn = (name: string, isThere: boolean): string =>
  `${isThere ? `array(select execution_id::text from ${name})` : `'{}'::text[]`} as ${name}`

/** The first eight parameters are the same for all. The parameters of the parts follow in the order of the parts. */
const commitText = (parts: CommitParts): string => {
  let count = 8
  const next = (): string => {
    count += 1
    return `$${count}`
  }
  const moved = parts.moves ? [movedOf(next(), next(), next())] : []
  const items = parts.items ? [itemsOf(next())] : []
  const left = parts.leaves ? [leftOf(next(), next())] : []
  const started = parts.starts ? [STARTED(next())] : []
  const added = `added as (${EVENTS} ${parts.starts ? NOT_REFUSED : ''} ${parts.leaves ? RETURNING : ''})`
  return `with ${[FENCE, ...started, added, ...left, ...moved, ...items].join()}
    select (select count(*)::integer from fence) as alive, (select generation from event_generation) as generation,
      ${idsIn('moved', parts.moves)}, ${idsIn('started', parts.starts)}`
}

type Commit = { name: string; text: string }
const commits = new Map<string, Commit>()

/** Returns the statement with these parts. Each is prepared once per connection. */
export const commitWith = (parts: CommitParts): Commit => {
  const name = `engine-commit${parts.moves ? '-moves' : ''}${parts.items ? '-items' : ''}${parts.leaves ? '-leaves' : ''}${parts.starts ? '-starts' : ''}`
  const known = commits.get(name)
  if (known) return known
  const commit = { name, text: commitText(parts) }
  commits.set(name, commit)
  return commit
}

// The start time, if it is in the future. It is compared with the database clock.
const LATER = `coalesce(to_timestamp(r.start_at / 1000), now() + r.start_in * interval '1 second')`
/** The position in the queue: each step of priority counts as one hour of waiting. */
const QUEUE_AT = `now() - coalesce(r.priority, 0) * interval '1 hour'`

/**
 * Inserts starts that have no owner yet: no worker, no events, and therefore no fence. Starts with a stage wait until
 * the rules let them start.
 */
export const ENQUEUE = {
  name: 'engine-enqueue',
  text: `with ${startedOf({
    json: '$1',
    columns: `, start_at double precision, start_in double precision, place uuid, stage text, gate uuid, flow json`,
    from: 'starts r',
    worker: 'null::uuid',
    startedAt: 'null::timestamptz',
    status: `case when ${LATER} > now() or r.stage is not null then 'waiting' else 'queued' end`,
    dueAt: `case when ${LATER} > now() then ${LATER} when r.stage is null then ${QUEUE_AT} end`,
    waitingFor: `case when ${LATER} > now() then engine.start_wait(${LATER}) else coalesce(r.waiting_for, '[]') end`,
    more: [
      ['held', 'case when r.stage is not null then false end'],
      ['place', 'r.place'],
      ['stage', `case when r.stage is not null and ${LATER} > now() then 'later' else r.stage end`],
      ['gate', 'r.gate'],
      ['flow', 'r.flow'],
      ['queue_at', `case when r.stage is not null then ${QUEUE_AT} end`],
    ],
  })},
    dirtied as (
      insert into flow_dirty (workspace_id, workflow_id, place)
      select distinct r.workspace_id, r.workflow_id, r.place from starts r
      where r.stage is not null and r.execution_id in (select execution_id from started))
    select array(select execution_id::text from started) as started`,
}
