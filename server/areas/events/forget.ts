import type { Database } from '#platform/db/pool'

/** Deletes events that are older than a day and waits that are no longer needed, in small transactions. */
export async function forgetEvents(db: Database, atOnce = 1_000): Promise<void> {
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (await db.maintain<{ forgotten: number }>('select forget_events($1) as forgotten', [atOnce]))[0]!
      .forgotten
}
