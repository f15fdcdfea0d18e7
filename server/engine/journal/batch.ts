import type { ExecutionError, ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { GateRow } from '../flow/gate.ts'
import type { Fact, GraphState } from '../interpreter/state.ts'
import type { BlobRef, Initiator, StartLabels, StartTarget, TriggerKind, WaitingFor } from '../ports.ts'

/** What becomes of an execution's row. Only the fields of the new status are written; the rest is cleared. */
export type Move = {
  status: ExecutionStatus
  /** Messages taken in so far. With `parking` the move holds only if there are no others. */
  seen: number
  parking?: boolean
  /** Milliseconds of the database's clock. */
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
  /** About as many as the row will have, so that a statement holds no more than a few large ones. */
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
  /** Begins then, or as many seconds after it was asked for. */
  startAt?: number | undefined
  startInS?: number | undefined
  /** Rules of its workflow decide when it begins. */
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
  /** What models counted for it so far. */
  usage?: JsonObject
}

/** Everything one execution writes at once. */
export type Append = {
  workspaceId: string
  executionId: string
  epoch: number
  /** Number of the first fact. */
  seq: number
  facts: Fact[]
  start?: StartRow
  move?: Move
  items?: ItemRow[]
}

export type Encoded = Append & { bytes: number; texts: string[] }

// The fence: nothing is written unless the worker's row is there, alive, and locked against a worker that would declare it dead.
// The generation is that of the list of workspaces whose events leave (watched.ts).
const FENCE = `fence as materialized (select worker_id from workers where worker_id = $1 and not dead
    and (select generation from event_generation) = $10 for share)`

// `one` is always 1. It makes the planner expect a single row, and so look each execution up by its key, however small the
// table was when the plan was made. Without it a plan made on an empty database read the whole key for each batch, and the
// cost of a commit grew with every execution that had ended. (A function that updates row by row costs 80 µs a row.)
// Whatever a worker owns is running: naming a status keeps weeks in which everything has ended out of the plan. Two of them, because
// with one the planner reads the index of those that run, all of the workspace for each execution, instead of the key.
const MOVED = `moved as (
  update executions e set status = r.status, seen = r.seen, crashes = 0,
      worker_id = case when r.status = 'running' then e.worker_id end,
      due_at = case when r.status = 'queued' then now() else to_timestamp(r.due_at / 1000) end,
      waiting_for = coalesce(r.waiting_for, '[]'),
      snapshot = case when r.finished_at is null then coalesce(r.snapshot, e.snapshot) end,
      snapshot_seq = case when r.finished_at is not null then 0 when r.snapshot is null then e.snapshot_seq
        else r.snapshot_seq end,
      results = r.results, results_blob = r.results_blob, error = r.error,
      finished_at = to_timestamp(r.finished_at / 1000), tell_end = e.tell_end or coalesce(r.tell_end, false)
  from fence, json_to_recordset($8::json) as r (one integer, workspace_id uuid, execution_id uuid, epoch integer,
    status text, seen integer, parking boolean, due_at double precision, waiting_for jsonb, snapshot json,
    snapshot_seq integer, results json, results_blob json, error json, finished_at double precision, tell_end boolean)
  where r.one = 1 and e.workspace_id = r.workspace_id and e.execution_id = r.execution_id and e.epoch = r.epoch
    and e.status in ('running', 'queued') and case when e.worker_id = $1 then true end and (not coalesce(r.parking, false) or e.inbox = r.seen)
  returning e.execution_id)`

const ITEMS = `items as (
  insert into map_items (workspace_id, execution_id, path, index, status, state, output, error, due_at, usage)
  select r.workspace_id, r.execution_id, r.path, r.index, r.status, r.state, r.output, r.error, to_timestamp(r.due_at / 1000),
    r.usage
  from fence, json_to_recordset($9::json) as r (workspace_id uuid, execution_id uuid, path text, index integer,
    status text, state json, output json, error json, due_at double precision, usage json)
  on conflict (execution_id, path, index) do update set status = excluded.status, state = excluded.state,
    output = excluded.output, error = excluded.error, due_at = excluded.due_at, usage = excluded.usage)`

const EVENTS = `insert into events (execution_id, seq, workspace_id, at, type, data)
  select r.execution_id, r.seq, r.workspace_id, to_timestamp(r.at / 1000), r.type, r.data::json
  from fence, unnest($2::uuid[], $3::integer[], $4::uuid[], $5::double precision[], $6::text[], $7::text[])
    as r (execution_id, seq, workspace_id, at, type, data)`

// Beside the events, for workspaces with destinations. In the order of their numbers, which is that of their delivery.
const LEFT = `left_for as (
  insert into event_outbox (workspace_id, type, at, execution_id, seq)
  select a.workspace_id, a.type, a.at, a.execution_id, a.seq from added a
  where a.workspace_id = any ($11::uuid[]) and a.type = any ($12::text[]) order by a.execution_id, a.seq)`
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

// The engine's tables know no workspaces. One that was deleted stands on a list, and nothing begins in it any more, no matter who
// still holds a token of it.
const NOT_GONE = 'not exists (select from gone_workspaces g where g.workspace_id = r.workspace_id)'

// A start and its first events are inserts: inside one statement a row just inserted cannot be updated. Keys come sorted,
// or two batches could wait for each other.
const startedOf = (of: {
  json: string
  /** What the JSON holds besides. */
  columns: string
  from: string
  worker: string
  startedAt: string
  status: string
  dueAt: string
  waitingFor: string
  /** Columns besides, and their values. */
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

const RESULT = `select (select count(*)::integer from fence) as alive, (select generation from event_generation) as generation,
  array(select execution_id::text from moved) as moved`

const NOT_REFUSED = `where r.execution_id not in (select execution_id from starts)
      or r.execution_id in (select execution_id from started)`

/** Four texts, each prepared once per connection: most batches hold no start, and no event that leaves. */
const commitText = (hasStarts: boolean, leaves: boolean): string =>
  `with ${[
    FENCE,
    ...(hasStarts ? [STARTED(leaves ? '$13' : '$11')] : []),
    `added as (${EVENTS} ${hasStarts ? NOT_REFUSED : ''} ${leaves ? RETURNING : ''})`,
    ...(leaves ? [LEFT] : []),
    MOVED,
    ITEMS,
  ].join()} ${RESULT}, ${hasStarts ? 'array(select execution_id::text from started)' : `'{}'::text[]`} as started`

export const COMMITS = {
  plain: { name: 'engine-commit', text: commitText(false, false) },
  starts: { name: 'engine-commit-starts', text: commitText(true, false) },
  leaves: { name: 'engine-commit-leaves', text: commitText(false, true) },
  startsAndLeaves: { name: 'engine-commit-starts-leaves', text: commitText(true, true) },
}

// When it is to begin, where that is not now. The database's clock decides.
const LATER = `coalesce(to_timestamp(r.start_at / 1000), now() + r.start_in * interval '1 second')`
/** What a step of priority is worth: who has one more goes before those asked for up to an hour earlier. */
const QUEUE_AT = `now() - coalesce(r.priority, 0) * interval '1 hour'`

/** Starts that nobody owns yet: no worker, no events, and so no fence. Those with a stage wait until the rules let them begin. */
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
