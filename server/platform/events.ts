import type { Tx } from './db/pool.ts'
import { newId } from './ids.ts'

/** A fact about which people are notified. */
export type PlatformEvent = {
  workspaceId: string
  kind: string
  title: string
  body?: string
  data?: Record<string, unknown>
  /** A path inside the console. */
  link?: string
  /** Ids of people. People who are not in the workspace are skipped. */
  to: readonly string[]
}

/** The channel of hints that a person's feed has new entries. */
export const FEED_HINTS = 'feed'

export type DeliverEvent = (tx: Tx, event: PlatformEvent) => Promise<void>

/** The only way in which platform events reach people. Called in the transaction that made the event true. */
export const deliverEvent: DeliverEvent = async (tx, event) => {
  if (event.to.length === 0) return
  const notified = await tx.rows<{ user_id: string }>(
    'select deliver_event($1, $2, $3, $4, $5, $6, $7, $8) as user_id',
    [
      event.workspaceId,
      event.kind,
      event.title,
      event.body ?? null,
      event.data ?? {},
      event.link ?? null,
      event.to,
      event.to.map(() => newId()),
    ],
  )
  for (const { user_id } of notified) tx.hint(FEED_HINTS, user_id)
}

/**
 * Settles gates or questions, given as wire ids, that no longer wait for anyone, or no longer for this person: notices
 * about them are marked as read and show `outcome`, and unsent messages are not sent.
 */
export async function settleNoticesAbout(
  tx: Tx,
  workspaceId: string,
  subjectIds: readonly string[],
  outcome: string,
  userId: string | null = null,
): Promise<void> {
  if (subjectIds.length === 0) return
  const notified = await tx.rows<{ user_id: string }>('select settle_matters($1, $2, $3, $4) as user_id', [
    workspaceId,
    subjectIds,
    outcome,
    userId,
  ])
  for (const { user_id } of notified) tx.hint(FEED_HINTS, user_id)
}
