import type { Tx } from './db/pool.ts'

// Events that leave the service, written in the transaction of what happened. Executions write theirs with their journal
// (engine/journal/watched.ts); everything else calls `emitEvent`.

/** The channel of hints that the outbox has grown. */
export const OUTBOX_HINTS = 'events_out'

export type OutgoingEvent = {
  workspaceId: string
  /** One of `eventTypes`. */
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

/**
 * Every type of event that leaves, with what it says. To add one: a line here, an example in docs/events.md, and `emitEvent`
 * where it happens. Who may see it is decided by `event_visible` in the database: types it does not know are for owners.
 */
export const eventTypes = {
  'execution.started': 'An execution has begun.',
  'execution.waiting': 'An execution waits for people, time or another execution.',
  'execution.resumed': 'An execution that waited goes on.',
  'execution.succeeded': 'An execution has ended well.',
  'execution.failed': 'An execution has failed.',
  'execution.cancelled': 'An execution was cancelled.',
  'execution.timed_out': 'An execution took longer than it may.',
  'approval.opened': 'An execution asks for an approval.',
  'approval.voted': 'Somebody voted on an approval.',
  'approval.resolved': 'An approval was given or refused.',
  'clarification.asked': 'An execution asks a question.',
  'clarification.answered': 'A question was answered.',
  'job.started': 'A run of an enrichment job has begun.',
  'job.finished': 'A run of an enrichment job has ended.',
  'job.paused': 'An enrichment job was paused.',
  'credential.needs_reconnect': 'A service no longer accepts a credential.',
  'audit.recorded': 'An entry was added to the audit log. For owners of the workspace.',
} as const satisfies Record<string, string>

export const eventFamilies: readonly string[] = [
  ...new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]}.*`)),
]
