import type { JsonObject } from '#model/definition'
import { toWire } from '#platform/ids'
import { type Loaded, MAX_DATA_BYTES } from './deliveries-store.ts'
import type { EventMessage } from './schema.ts'

const wireOrNull = (prefix: 'wf' | 'wfv' | 'usr', id: string | null): string | null => id && toWire(prefix, id)

/** Returns the data that every event of an execution has. */
function executionFacts(event: Loaded, baseUrl: string): JsonObject {
  const id = toWire('exe', event.execution_id!)
  return {
    workspace_id: toWire('ws', event.workspace_id),
    execution_id: id,
    seq: event.seq,
    workflow_id: wireOrNull('wf', event.workflow_id),
    version_id: wireOrNull('wfv', event.version_id),
    trigger: { kind: event.trigger_kind, id: event.trigger_id },
    started_by: wireOrNull('usr', event.started_by),
    url: `${baseUrl}/api/workflows/executions/${id}`,
  }
}

/** Removes the reference to the blob store, which receivers cannot read. */
function detailsOf(data: JsonObject | null): JsonObject {
  if (data === null) return { omitted: true }
  if (data.blob === undefined) return data
  const { blob: _blob, ...rest } = data
  return { ...rest, omitted: true }
}

export function messageOf(event: Loaded, baseUrl: string): EventMessage {
  const { type, execution_id, data } = event
  const timestamp = event.event_at.toISOString()
  if (execution_id === null)
    return { type, timestamp, data: { workspace_id: toWire('ws', event.workspace_id), ...data } }
  const facts = executionFacts(event, baseUrl)
  const details = detailsOf(data)
  const fits = Buffer.byteLength(JSON.stringify(details)) <= MAX_DATA_BYTES
  return { type, timestamp, data: { ...(fits ? details : { omitted: true }), ...facts } }
}
