import type { Definition, ExecutionError, ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { pageRows } from '#platform/http/page'
import { LARGE_BYTES, slices } from '#platform/slices'
import { makeWorkspaceTurns } from '#platform/workspace-turns'
import type { AreaCalls } from './area-calls.ts'
import type { LoadDefinition } from './definitions.ts'
import { initiatorsOfRow } from './initiators.ts'
import { replay } from './interpreter/apply.ts'
import { emptyState, type GraphState, hasEnded, type JournalEvent } from './interpreter/state.ts'
import type {
  BlobRef,
  ExecutionEvent,
  ExecutionEventType,
  ExecutionView,
  Initiator,
  NodeUsage,
  NodeView,
  TriggerKind,
  WaitingFor,
} from './ports.ts'

// The view for users and sockets: the row, and the state that results from its journal. It is read with the rights of
// the workspace, so that row security is the second line of defence.

type Row = {
  execution_id: string
  workspace_id: string
  workflow_id: string | null
  system_slug: string | null
  version_id: string | null
  definition_ref: string
  status: ExecutionStatus
  /** Null if the input is too large to be shown. */
  input: Json
  input_bytes: number
  large_input: { sha256: string; bytes: number } | null
  results: Json
  results_blob: BlobRef | null
  error: ExecutionError | null
  waiting_for: WaitingFor[]
  trigger_kind: TriggerKind
  trigger_id: string | null
  started_by: string | null
  initiated_by: Initiator[] | null
  principal_id: string | null
  retry_of: string | null
  parent_execution_id: string | null
  priority: number
  tags: string[]
  metadata: JsonObject
  scheduled_at: Date | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  snapshot: GraphState | null
  snapshot_seq: number
  usage: NodeUsage[] | null
  /** The size of the snapshot and of the events after it, as text. */
  journal_bytes: number
}

type EventRow = { seq: number; type: ExecutionEventType; at: Date; data: ExecutionEvent['data'] }

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

export const nodeViews = (state: GraphState): NodeView[] =>
  Object.entries(state.nodes).map(([node_id, node]) => ({
    node_id,
    status: node.status,
    attempt: node.attempt,
    started_at: node.status === 'skipped' ? null : iso(node.started_at),
    finished_at: iso(node.finished_at),
    ...(node.output !== undefined && { output: node.output }),
    ...(node.blob && { blob: node.blob }),
    ...(node.error && { error: node.error }),
    ...(node.port !== undefined && { port: node.port }),
  }))

/** Returns the nodes that have not started: pending while the execution runs, skipped after its end. */
const notBegun = (definition: Definition | undefined, { finished_at }: Row, state: GraphState): NodeView[] =>
  (definition?.nodes ?? [])
    .filter(({ id }) => !Object.hasOwn(state.nodes, id))
    .map(({ id }) => ({
      node_id: id,
      status: finished_at !== null || hasEnded(state) ? 'skipped' : 'pending',
      attempt: 0,
      started_at: null,
      finished_at: finished_at?.toISOString() ?? null,
    }))

/** A larger journal is read page by page, and waits for its turn. */
const LIGHT_BYTES = 256 * 1024
/** A larger input is not read with its execution. */
const MAX_INPUT_BYTES = 1024 * 1024

/** `$3`: also returns large values. A pause of the workflow keeps only executions waiting that have not started. */
const ROW = `select execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status,
    case when $3 or i.bytes <= ${MAX_INPUT_BYTES} then input end as input, i.bytes as input_bytes,
    case when i.bytes > ${MAX_INPUT_BYTES} then json_build_object('sha256', encode(sha256(convert_to(input::text, 'UTF8')), 'hex'),
      'bytes', i.bytes) end as large_input, results, results_blob,
    error, engine.shown_waits(workspace_id, execution_id, status, epoch, engine.shown_flow(workspace_id, workflow_id, status, case when started_at is null then held end, waiting_for, created_at)) as waiting_for,
    coalesce(priority, 0) as priority, coalesce(tags, '{}') as tags, coalesce(metadata, '{}') as metadata, scheduled_at, trigger_kind, trigger_id, started_by, initiated_by,
    coalesce(principal_id, principal_of_version(workspace_id, version_id)) as principal_id, retry_of, parent_execution_id, created_at, started_at,
    finished_at, model_usage_of(workspace_id, execution_id) as usage, case when $3 or octet_length(snapshot::text) <= ${LIGHT_BYTES} then snapshot end as snapshot, snapshot_seq,
    coalesce(octet_length(snapshot::text), 0) + coalesce((select sum(octet_length(j.data::text)) from events j
      where j.workspace_id = $1 and j.execution_id = $2 and j.seq > e.snapshot_seq), 0) as journal_bytes
  from executions e cross join lateral (select octet_length(e.input::text) as bytes offset 0) as i
  where workspace_id = $1 and execution_id = $2`

const EVENTS = 'select seq, type, at, data from journal_page($1, $2, $3, $4)'

const ALL = 1_000_000
const PAGE = 1_000

/** Returns at most one page. */
export const readEvents = (
  db: Database,
  workspaceId: string,
  executionId: string,
  after: number,
  limit: number,
): Promise<ExecutionEvent[]> =>
  db.tenant({ workspaceId, userId: null }, (tx) =>
    pageRows<EventRow>(tx, EVENTS, [workspaceId, executionId, after, limit]),
  )

type Found = { row: Row; state: GraphState }

const eventOf = ({ type, at, data }: EventRow): JournalEvent => ({ type, at: at.getTime(), data })

/**
 * Limits the reads of executions with large journals to two at a time and one per workspace. Without the limit,
 * thirty reads of 16 MB took 1.5 GB and blocked all other requests.
 */
export const makeReadTurns = (): AreaCalls => makeWorkspaceTurns({ atOnce: 2, perWorkspace: 1 })

const readLight = async (tx: Tx, row: Row): Promise<Found> => {
  const events = await tx.rows<EventRow>(EVENTS, [row.workspace_id, row.execution_id, row.snapshot_seq, ALL])
  return { row, state: replay(row.snapshot ?? emptyState(), events.map(eventOf)) }
}

/** Reads and parses at most one page of events at a time. */
const readHeavy = async (tx: Tx, workspaceId: string, executionId: string): Promise<Found | undefined> => {
  const row = await tx.maybe<Row>(ROW, [workspaceId, executionId, true])
  if (!row) return undefined
  let state = row.snapshot ?? emptyState()
  for (let after = row.snapshot_seq; ; ) {
    const events = await pageRows<EventRow>(tx, EVENTS, [workspaceId, executionId, after, PAGE])
    if (events.length === 0) return { row, state }
    state = replay(state, events.map(eventOf))
    after = events.at(-1)!.seq
  }
}

/** Returns the row and the state, including the last event. The row is read first, because events are only added. */
export const readState = async (
  db: Database,
  inTurn: AreaCalls,
  workspaceId: string,
  executionId: string,
  { whole }: { whole: boolean },
): Promise<Found | undefined> => {
  const scope = { workspaceId, userId: null }
  // No connection is held while this read waits for its turn.
  const light = await db.tenant(scope, async (tx): Promise<Found | 'heavy' | undefined> => {
    const row = await tx.maybe<Row>(ROW, [workspaceId, executionId, false])
    if (!row) return undefined
    return row.journal_bytes > LIGHT_BYTES || (whole && row.large_input) ? 'heavy' : readLight(tx, row)
  })
  if (light !== 'heavy') return light
  return inTurn(workspaceId, () => db.tenant(scope, (tx) => readHeavy(tx, workspaceId, executionId)))
}

/** Returns the input as JSON text, however large it is. */
export const readInput = async (db: Database, workspaceId: string, executionId: string): Promise<string | undefined> =>
  (
    await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.maybe<{ input: string }>(
        'select input::text as input from executions where workspace_id = $1 and execution_id = $2',
        [workspaceId, executionId],
      ),
    )
  )?.input

export const readExecution = async (
  db: Database,
  inTurn: AreaCalls,
  loadDefinition: LoadDefinition,
  workspaceId: string,
  executionId: string,
): Promise<ExecutionView | undefined> => {
  const found = await readState(db, inTurn, workspaceId, executionId, { whole: false })
  if (!found) return undefined
  const { snapshot: _snapshot, snapshot_seq: _seq, journal_bytes: _bytes, input_bytes, ...kept } = found.row
  // The caller serializes the large input, so wait for a slice.
  if (input_bytes > LARGE_BYTES) await slices.next(workspaceId)
  const { definition_ref, trigger_kind, trigger_id, ...row } = kept
  // An ad-hoc definition is deleted with its job. The nodes of the execution are shown without it.
  const definition = await loadDefinition(workspaceId, definition_ref).catch(() => undefined)
  return {
    ...row,
    initiated_by: initiatorsOfRow(row),
    trigger: { kind: trigger_kind, id: trigger_id },
    usage: row.usage ?? [],
    nodes: [...nodeViews(found.state), ...notBegun(definition, found.row, found.state)],
    seq: found.state.seq,
  }
}

/** Returns the executions of one job or suite that have not ended. */
export const listLiveOfJob = async (tx: Tx, workspaceId: string, triggerId: string): Promise<string[]> =>
  (
    await tx.rows<{ execution_id: string }>(
      `select execution_id from executions where workspace_id = $1 and trigger_kind = 'job' and trigger_id = $2
         and status in ('queued', 'running', 'waiting')`,
      [workspaceId, triggerId],
    )
  ).map(({ execution_id }) => execution_id)
