import type { Database, Tx } from '#platform/db/pool'
import { nudge } from '../nudges.ts'
import { type ClaimedJson, claimedOf } from './claim-store.ts'
import type { HandOver } from './claims.ts'

// A message to an execution that was parked in this process: the transaction that writes it gives the execution to this process's
// worker, which goes on with it in the moment of the commit. That saves the round trip of a claim, and NOTIFY in the
// transaction. If the process dies first, the execution is released with the others of its worker; if it cannot know whether
// the transaction was committed, as one that says it is this worker's and is not (tick.ts).
//
// It goes on before the message is on disk: nothing it does has an effect before its own append is, and that is written behind the
// message. If the database loses the message, it loses the append as well, and the sender is not told that it was taken.

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
