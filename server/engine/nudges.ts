import type { Database, Tx } from '#platform/db/pool'

// A worker that is told of an execution looks at it at once; without that it would within half a second.

const CHANNEL = 'nudges'

/** In the transaction that queues an execution or writes to its inbox; or with the database, where that is committed. */
export const nudge = (through: Pick<Tx | Database, 'hint'>, executionId: string): void =>
  through.hint(CHANNEL, executionId)

/** Called without an id when it may be any. */
export const onNudged = (db: Database, look: (executionId: string) => void): Promise<() => Promise<void>> =>
  db.listen(CHANNEL, look)
