import type { Tx } from './db/pool.ts'

// Events that leave the service, written in the transaction of what happened. Executions write theirs with their journal
// (engine/journal/watched.ts); everything else calls `emitEvent`.

/** The channel of hints that the outbox has grown. */
export const OUTBOX_HINTS = 'events_out'

export type OutgoingEvent = {
  workspaceId: string
  /** One of `eventTypes` (model/event-types.ts). */
  type: string
  /** What it is about, as a uuid: events with the same subject and a `seq` are delivered in that order. */
  subjectId?: string
  seq?: number
  /** What receivers get: ids in wire form, and never a secret. */
  data: Record<string, unknown>
}

/** Costs one look at an index where the workspace has no destination. */
export async function emitEvent(tx: Tx, event: OutgoingEvent): Promise<void> {
  const written = await tx.count(
    `insert into event_outbox (workspace_id, type, subject_id, seq, data)
     select $1, $2, $3, $4, $5 where exists (select from event_workspaces where workspace_id = $1)`,
    [event.workspaceId, event.type, event.subjectId ?? null, event.seq ?? null, JSON.stringify(event.data)],
  )
  if (written > 0) tx.hint(OUTBOX_HINTS, '')
}
