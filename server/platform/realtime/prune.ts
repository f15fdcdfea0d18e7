import { DAY } from '../clock.ts'
import type { Database } from '../db/pool.ts'

/** The time for which a socket can resume. Older positions get a gap. */
const FEED_KEPT_FOR = 7 * DAY
const CHUNK = 10_000

/**
 * Deletes old feed entries, in small transactions, and unused tickets. Called by the maintenance loop about every hour.
 */
export async function pruneRealtime(db: Database, keptFor = FEED_KEPT_FOR): Promise<number> {
  await db.maintain('select prune_tickets()')
  let pruned = 0
  for (;;) {
    const rows = await db.maintain<{ pruned: number }>(
      `select prune_feeds(now() - $1 * interval '1 millisecond', $2) as pruned`,
      [keptFor, CHUNK],
    )
    pruned += rows[0]!.pruned
    if (rows[0]!.pruned < CHUNK) return pruned
  }
}
