import type { Database, Tx } from '#platform/db/pool'
import { nudge } from '../nudges.ts'
import { type ClaimedJson, claimedOf } from './claim-store.ts'
import type { HandOver } from './claims.ts'

// A message to an execution that was parked in this process. The transaction that writes the message also hands the
// execution to the worker of this process, which continues it at the commit. This saves the round trip of a claim,
// and NOTIFY in the transaction. If the process dies first, the execution is released with the others of its worker.
// If the process cannot know whether the transaction was committed, the execution is released as a stray: its row
// names this worker, but the worker does not have it (tick.ts).
// The execution continues before the message is on disk. It has no effect before its own append is durable, and that
// append is written after the message. If the database loses the message, it also loses the append, and the sender
// receives no confirmation.

const SIGNAL_AND_CLAIM = `select engine.signal_and_claim($1, $2, $3, $4, $5::json) as claimed,
  set_config('synchronous_commit', 'off', true)`

export function handOver(db: Database, tx: Tx, { workerId, take }: HandOver, values: string[]): void {
  const [, executionId] = values as [string, string]
  let claimed: ClaimedJson | null = null
  tx.send<{ claimed: ClaimedJson | null }>(SIGNAL_AND_CLAIM, [workerId, ...values], ([found]) => {
    claimed = found?.claimed ?? null
  })
  tx.settleBehind()
  tx.after(() => {
    if (claimed) take(claimedOf(claimed))
    else nudge(db, executionId)
  })
}
