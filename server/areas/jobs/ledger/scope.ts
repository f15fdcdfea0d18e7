import type { Database, Tx } from '#platform/db/pool'

/**
 * A transaction over the ledger of a workspace. A generic plan made while the ledger was small would scan it for ever after;
 * every statement here has an index to go by.
 */
export const inLedger = <T>(db: Database, workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.tenant({ workspaceId, userId: null }, async (tx) => {
    const planner = tx.rows(
      `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
    )
    const [, result] = await Promise.all([planner, work(tx)])
    return result
  })
