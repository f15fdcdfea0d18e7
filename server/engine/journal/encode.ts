import { doubleArray, integerArray, jsonArray, textArray, uuidArray } from '#platform/db/binary-arrays'
import { FIRST_ID, LAST_ID } from '#platform/ids'
import type { GraphState, JournalEvent, NodeState } from '../interpreter/state.ts'
import type { StartLabels } from '../ports.ts'
import { hasBadText } from '../text.ts'
import { type Append, commitWith, type Encoded, type RowUpdate } from './batch.ts'
import { type EventWorkspaces, SENT_EVENT_TYPES } from './event-workspaces.ts'
import { Refused } from './failures.ts'
import { type EventText, packedText, textOf } from './short-events.ts'

const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`

/** Returns a snapshot without the outputs that are in the blob store. */
export const withoutBlobs = (state: GraphState): GraphState => {
  if (!Object.values(state.nodes).some((node) => node.blob)) return state
  const nodes: Record<string, NodeState> = {}
  for (const [id, node] of Object.entries(state.nodes)) {
    if (node.blob) {
      const { output: _output, ...rest } = node
      nodes[id] = rest
    } else nodes[id] = node
  }
  return { ...state, nodes }
}

const rowUpdateFields = (rowUpdate: RowUpdate): object => ({
  status: rowUpdate.status,
  seen: rowUpdate.seen,
  parking: rowUpdate.parking,
  due_at: rowUpdate.dueAt,
  waiting_for: rowUpdate.waitingFor,
  snapshot: rowUpdate.snapshot && withoutBlobs(rowUpdate.snapshot),
  snapshot_seq: rowUpdate.snapshot?.seq,
  results: rowUpdate.resultsBlob ? undefined : rowUpdate.results,
  results_blob: rowUpdate.resultsBlob,
  error: rowUpdate.error,
  finished_at: rowUpdate.finishedAt,
  tell_end: rowUpdate.tellEnd,
})

/** Returns the labels by which a caller finds and orders executions. */
export const labelFields = (labels: StartLabels): object => ({
  priority: labels.priority,
  tags: labels.tags,
  metadata: labels.metadata,
  scheduled_at: labels.scheduledAt?.getTime(),
  schedule_id: labels.scheduleId,
  traceparent: labels.traceparent,
})

type StartAppend = Pick<Append, 'workspaceId' | 'executionId' | 'start' | 'rowUpdate'>

const startFields = (append: StartAppend): object => {
  const { start, rowUpdate } = append
  if (!start) return {}
  return {
    execution_id: append.executionId,
    workspace_id: append.workspaceId,
    workflow_id: start.workflowId,
    system_slug: start.systemSlug,
    version_id: start.versionId,
    definition_ref: start.definitionRef,
    input: start.input,
    trigger_kind: start.trigger.kind,
    trigger_id: start.trigger.id,
    started_by: start.startedBy,
    principal_id: start.principalId,
    initiated_by: start.initiatedBy,
    retry_of: start.retryOf,
    parent_execution_id: start.parent?.executionId,
    parent_node: start.parent?.node,
    timeout_s: start.timeoutS,
    depth: start.depth,
    ...(start.labels && labelFields(start.labels)),
    credential_hash: start.key && hex(start.key.credentialHash),
    key_hash: start.key && hex(start.key.keyHash),
    body_sha256: start.key && hex(start.key.bodySha256),
    snapshot: start.snapshot && withoutBlobs(start.snapshot),
    snapshot_seq: 0,
    status: 'running',
    ...(rowUpdate && rowUpdateFields(rowUpdate)),
    tell_end: start.tellEnd || rowUpdate?.tellEnd === true,
  }
}

/** Returns event data as users see it. A value in the blob store is named, not repeated. */
const eventText = (event: JournalEvent): EventText => {
  if (event.data.blob === undefined) return textOf(event)
  const { output: _output, results: _results, ...rest } = event.data
  return { data: JSON.stringify(rest) }
}

/**
 * Serializes an append before it is queued, so that a text that cannot be stored fails only its own execution. The
 * database accepts such texts in events, but the queries that read several journals at once would fail.
 */
export const encode = (append: Append): Encoded => {
  const texts = append.events.map(eventText)
  if (texts.some(({ data }) => hasBadText(data))) throw new Refused('an event contains text that cannot be stored')
  const bytes = texts.reduce((sum, { data }) => sum + data.length, 200 + (append.start?.bytes ?? 0))
  return { ...append, bytes, texts }
}

const compareKeys = (a: StartAppend, b: StartAppend): number =>
  Buffer.compare(a.start?.key?.credentialHash ?? EMPTY, b.start?.key?.credentialHash ?? EMPTY) ||
  Buffer.compare(a.start?.key?.keyHash ?? EMPTY, b.start?.key?.keyHash ?? EMPTY)

const EMPTY = Buffer.alloc(0)

const inOrder = <A extends StartAppend>(starts: A[]): A[] =>
  starts.some(({ start }) => start?.key) ? starts.toSorted(compareKeys) : starts

/** Encodes starts for ENQUEUE. Any worker may claim them. */
export const queuedText = (starts: StartAppend[]): string =>
  JSON.stringify(
    inOrder(starts).map((append) => ({
      ...startFields(append),
      status: 'queued',
      ...(append.start?.startAt !== undefined && { start_at: append.start.startAt }),
      ...(append.start?.startInS !== undefined && { start_in: append.start.startInS }),
      ...append.start?.gate,
    })),
  )

export type Statement = { name: string; text: string; values: unknown[]; leaves: boolean }

const outward = new Set(SENT_EVENT_TYPES)

/**
 * The maximum length of a packed event. A larger event has its own row. So does an event with a blob, because
 * retention searches the rows for blobs.
 */
const MAX_PACKED_CHARACTERS = 512
/**
 * The maximum number of events per row. Readers search this many rows back for the row that contains an event number
 * (migration 1510).
 */
const MAX_PACKED = 16

/** The type of a row of several events. Each row contains it, so it is short. */
const PACKED = 'p'

const packs = ({ events, texts }: Encoded, at: number): boolean =>
  events[at] !== undefined &&
  events[at].data.blob === undefined &&
  (texts[at] as EventText).data.length <= MAX_PACKED_CHARACTERS

/** Returns the number of events, starting with `at`, that are written as one row. */
const packedFrom = (append: Encoded, at: number): number => {
  let end = at
  while (end - at < MAX_PACKED && packs(append, end)) end += 1
  return Math.max(1, end - at)
}

type EventRow = { seq: number; at: number; type: string; text: string }

/**
 * Packs consecutive small events into one row. Events for destinations are not packed, because the statement reads
 * their types.
 */
export function* rowsOf(append: Encoded, leaves: boolean): Generator<EventRow> {
  const { events, texts, seq } = append
  for (let at = 0, count = 1; at < events.length; at += count) {
    const first = events[at] as JournalEvent
    count = leaves ? 1 : packedFrom(append, at)
    if (count === 1) yield { seq: seq + at, at: first.at, type: first.type, text: (texts[at] as EventText).data }
    else {
      const several = events
        .slice(at, at + count)
        .map((event, n) => packedText(event.type, event.at - first.at, texts[at + n] as EventText))
      yield { seq: seq + at, at: first.at, type: PACKED, text: `[${several.join()}]` }
    }
  }
}

/** Returns the workspaces of the batch that send some of these events to destinations. */
const leavingFrom = (batch: Encoded[], eventWorkspaces: EventWorkspaces): string[] => {
  if (eventWorkspaces.isEmpty()) return []
  const leaving = new Set<string>()
  for (const { workspaceId, events } of batch)
    if (eventWorkspaces.has(workspaceId) && events.some(({ type }) => outward.has(type))) leaving.add(workspaceId)
  return [...leaving]
}

const firstAndLast = (batch: Encoded[]): [first: string, last: string] => {
  let first = LAST_ID
  let last = FIRST_ID
  for (const { executionId } of batch) {
    if (executionId < first) first = executionId
    if (executionId > last) last = executionId
  }
  return [first, last]
}

export const commitOf = (workerId: string, batch: Encoded[], eventWorkspaces: EventWorkspaces): Statement => {
  const executions: string[] = []
  const seqs: number[] = []
  const workspaces: string[] = []
  const times: number[] = []
  const types: string[] = []
  const texts: string[] = []
  const moves: object[] = []
  const items: object[] = []
  const starts: Encoded[] = []
  for (const append of batch) {
    for (const { seq, at, type, text } of rowsOf(append, eventWorkspaces.has(append.workspaceId))) {
      executions.push(append.executionId)
      seqs.push(seq)
      workspaces.push(append.workspaceId)
      times.push(at)
      types.push(type)
      texts.push(text)
    }
    const owner = { workspace_id: append.workspaceId, execution_id: append.executionId }
    if (append.start) starts.push(append)
    else if (append.rowUpdate)
      moves.push({ one: 1, ...owner, epoch: append.epoch, ...rowUpdateFields(append.rowUpdate) })
    for (const item of append.items ?? []) {
      items.push({ ...owner, ...item, state: item.state && withoutBlobs(item.state), due_at: item.dueAt })
    }
  }
  const leaving = leavingFrom(batch, eventWorkspaces)
  const parts = {
    moves: moves.length > 0,
    items: items.length > 0,
    leaves: leaving.length > 0,
    starts: starts.length > 0,
  }
  const values: unknown[] = [
    workerId,
    uuidArray(executions),
    integerArray(seqs),
    uuidArray(workspaces),
    doubleArray(times),
    textArray(types),
    jsonArray(texts),
    eventWorkspaces.generation(),
  ]
  if (parts.moves) values.push(JSON.stringify(moves), ...firstAndLast(batch))
  if (parts.items) values.push(JSON.stringify(items))
  if (parts.leaves) values.push(leaving, SENT_EVENT_TYPES)
  if (parts.starts) values.push(JSON.stringify(inOrder(starts).map(startFields)))
  return { ...commitWith(parts), values, leaves: parts.leaves }
}
