import type { Definition, ExecutionError, ExecutionStatus, Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { pageRows } from '#platform/http/page'
import type { LoadDefinition } from './definitions.ts'
import { initiatorsOfRow } from './initiators.ts'
import { replay } from './interpreter/apply.ts'
import { emptyState, type Fact, type GraphState, hasEnded } from './interpreter/state.ts'
import type {
  BlobRef,
  ExecutionEvent,
  ExecutionEventType,
  ExecutionView,
  Initiator,
  NodeView,
  TriggerKind,
  WaitingFor,
} from './ports.ts'

// What people and sockets see: the row, and the state its journal adds up to. Read as a request of that workspace, so
// that row security is the second wall here too.

type Row = {
  execution_id: string
  workspace_id: string
  workflow_id: string | null
  system_slug: string | null
  version_id: string | null
  definition_ref: string
  status: ExecutionStatus
  input: Json
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
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  snapshot: GraphState | null
  snapshot_seq: number
}

type EventRow = { seq: number; type: ExecutionEventType; at: Date; data: ExecutionEvent['data'] }

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

const nodeViews = (state: GraphState): NodeView[] =>
  Object.entries(state.nodes).map(([node_id, node]) => ({
    node_id,
    status: node.status,
    attempt: node.attempt,
    started_at: node.status === 'skipped' ? null : iso(node.started_at),
    finished_at: iso(node.finished_at),
    ...(node.output !== undefined && { output: node.output }),
    ...(node.blob && { blob: node.blob }),
    ...(node.error && { error: node.error }),
  }))

/** Nodes that the execution may still reach; once it has ended, those that it never did. */
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

const ROW = `select execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input, results, results_blob,
    error, engine.shown_waits(workspace_id, execution_id, status, epoch, waiting_for) as waiting_for, trigger_kind, trigger_id, started_by, initiated_by,
    coalesce(principal_id, principal_of_version(workspace_id, version_id)) as principal_id, retry_of, parent_execution_id, created_at, started_at,
    finished_at, snapshot, snapshot_seq
  from executions where workspace_id = $1 and execution_id = $2`

const EVENTS = `select seq, type, at, data from events
  where workspace_id = $1 and execution_id = $2 and seq > $3 order by seq limit $4`

const ALL = 1_000_000

/** No more than a page holds. */
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

/** The row, its state, and the last event included; one transaction, but the row is read first: events only add to it. */
export const readState = (
  db: Database,
  workspaceId: string,
  executionId: string,
): Promise<{ row: Row; state: GraphState } | undefined> =>
  db.tenant({ workspaceId, userId: null }, async (tx) => {
    const row = await tx.maybe<Row>(ROW, [workspaceId, executionId])
    if (!row) return undefined
    const events = await tx.rows<EventRow>(EVENTS, [workspaceId, executionId, row.snapshot_seq, ALL])
    const facts = events.map(({ type, at, data }): Fact => ({ type, at: at.getTime(), data }))
    return { row, state: replay(row.snapshot ?? emptyState(), facts) }
  })

export const readExecution = async (
  db: Database,
  loadDefinition: LoadDefinition,
  workspaceId: string,
  executionId: string,
): Promise<ExecutionView | undefined> => {
  const found = await readState(db, workspaceId, executionId)
  if (!found) return undefined
  const { snapshot: _snapshot, snapshot_seq: _seq, definition_ref, trigger_kind, trigger_id, ...row } = found.row
  // A definition of its own goes with its job; what the execution did is shown all the same.
  const definition = await loadDefinition(workspaceId, definition_ref).catch(() => undefined)
  return {
    ...row,
    initiated_by: initiatorsOfRow(row),
    trigger: { kind: trigger_kind, id: trigger_id },
    nodes: [...nodeViews(found.state), ...notBegun(definition, found.row, found.state)],
    seq: found.state.seq,
  }
}

/** Executions of one job or suite that are not over. */
export const listLiveOfJob = async (tx: Tx, workspaceId: string, triggerId: string): Promise<string[]> =>
  (
    await tx.rows<{ execution_id: string }>(
      `select execution_id from executions where workspace_id = $1 and trigger_kind = 'job' and trigger_id = $2
         and status in ('queued', 'running', 'waiting')`,
      [workspaceId, triggerId],
    )
  ).map(({ execution_id }) => execution_id)
