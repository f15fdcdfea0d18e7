import type { Tx } from './db/pool.ts'

// Events that leave the service, written in the transaction of the change. Executions write their events with their
// journal (engine/journal/event-workspaces.ts); all other code calls `emitEvent`.

/** The channel of hints that the outbox has new events. */
export const OUTBOX_HINTS = 'events_out'

export type OutgoingEvent = {
  workspaceId: string
  /** One of `eventTypes` (model/event-types.ts). */
  type: string
  /**
   * The subject of the event, as a uuid. Events with the same subject and a `seq` are delivered in the order of `seq`.
   */
  subjectId?: string
  seq?: number
  /** The data for receivers: ids in wire form, and never a secret. */
  data: Record<string, unknown>
}

/** Writes an event. Costs one index lookup if the workspace has no destination. */
export async function emitEvent(tx: Tx, event: OutgoingEvent): Promise<void> {
  const written = await tx.count(
    `insert into event_outbox (workspace_id, type, subject_id, seq, data)
     select $1, $2, $3, $4, $5 where exists (select from event_workspaces where workspace_id = $1)`,
    [event.workspaceId, event.type, event.subjectId ?? null, event.seq ?? null, JSON.stringify(event.data)],
  )
  if (written > 0) tx.hint(OUTBOX_HINTS, '')
}
