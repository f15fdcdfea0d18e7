import type { ExecutionStatus, Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import type { JournalEvent } from '../interpreter/state.ts'
import { readBlob } from '../outputs.ts'
import type { BlobRef, ExecutionEventType, TriggerKind } from '../ports.ts'
import { Unreplayable } from './answers.ts'

// Reads several past executions with their journals. An execution that is larger than the limit is listed but not
// read.

const MAX_JOURNAL_BYTES = 2 * 1024 * 1024
const MAX_INPUT_BYTES = 1024 * 1024
/** The maximum number of bytes that one execution loads from the blob store. */
const MAX_BLOB_BYTES = 8 * 1024 * 1024

export type PastRow = {
  execution_id: string
  workflow_id: string | null
  definition_ref: string
  status: ExecutionStatus
  input: Json
  trigger_kind: TriggerKind
  trigger_id: string | null
  started_by: string | null
  retry_of: string | null
  scheduled_at: Date | null
  too_large: boolean
}

export type Past = { row: PastRow; events: JournalEvent[] }

type EventRow = { execution_id: string; type: ExecutionEventType; at: Date; data: JsonObject }

export const readPast = async (tx: Tx, workspaceId: string, ids: string[]): Promise<Map<string, Past>> => {
  const rows = await tx.rows<PastRow>(
    `select e.execution_id, e.workflow_id, e.definition_ref, e.status, e.trigger_kind, e.trigger_id, e.started_by, e.retry_of, e.scheduled_at,
       case when octet_length(e.input::text) <= ${MAX_INPUT_BYTES} then e.input end as input,
       octet_length(e.input::text) > ${MAX_INPUT_BYTES} or j.bytes > ${MAX_JOURNAL_BYTES} as too_large
     from executions e cross join lateral (select coalesce(sum(octet_length(v.data::text)), 0) as bytes from events v
       where v.workspace_id = $1 and v.execution_id = e.execution_id) j
     where e.workspace_id = $1 and e.execution_id = any ($2)`,
    [workspaceId, ids],
  )
  const small = rows.filter(({ too_large }) => !too_large).map(({ execution_id }) => execution_id)
  const events = await tx.rows<EventRow>(
    `select execution_id, type, at, data from journal where workspace_id = $1 and execution_id = any ($2)
     order by execution_id, seq`,
    [workspaceId, small],
  )
  const past = new Map(rows.map((row) => [row.execution_id, { row, events: [] as JournalEvent[] }]))
  for (const { execution_id, type, at, data } of events)
    past.get(execution_id)?.events.push({ type, at: at.getTime(), data })
  return past
}

/** Fills in the values that the journal left in the blob store. */
export const withBlobs = async (blobs: Blobs, events: JournalEvent[]): Promise<JournalEvent[]> => {
  let left = MAX_BLOB_BYTES
  const whole: JournalEvent[] = []
  for (const event of events) {
    const blob = event.data.blob as unknown as BlobRef | undefined
    if (!blob) {
      whole.push(event)
      continue
    }
    left -= blob.bytes
    if (left < 0) throw new Unreplayable('too_large', 'its outputs are larger than 8 MiB together')
    const value = await readBlob(blobs, blob)
    const { blob: _blob, ...data } = event.data
    const name = event.type === 'execution.succeeded' ? 'results' : 'output'
    whole.push({ ...event, data: { ...data, [name]: value } })
  }
  return whole
}
