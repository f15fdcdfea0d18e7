import type { Database, Tx } from '#platform/db/pool'

// A nudge makes a worker check an execution at once instead of within half a second.

const CHANNEL = 'nudges'

/**
 * Sends a nudge. Pass the transaction that queues an execution or writes to its inbox, or the database if it is
 * already committed.
 */
export const nudge = (through: Pick<Tx | Database, 'hint'>, executionId: string): void =>
  through.hint(CHANNEL, executionId)

/** `look` is called with an empty id if any execution may have changed. */
export const onNudged = (db: Database, look: (executionId: string) => void): Promise<() => Promise<void>> =>
  db.listen(CHANNEL, look)
