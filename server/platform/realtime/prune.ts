import { DAY } from '../clock.ts'
import type { Database } from '../db/pool.ts'

/** How far back a socket can resume; older positions are told of a gap. */
const FEED_KEPT_FOR = 7 * DAY
const CHUNK = 10_000

/** For the maintenance loop, every hour or so: old feed entries, in small transactions, and tickets nobody used. */
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
