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

/**
 * A statement that joins the lists it was given with each other: by hash, whatever the planner expects of their length. As nested
 * loops, a thousand ended records were two million comparisons, and the longer a write took the more of them were in the next: a job
 * over a million records fell from 2,700 records a second to 1,300.
 */
export async function joinByHash<T>(tx: Tx, statement: () => Promise<T>): Promise<T> {
  const begun = tx.rows(`select set_config('enable_hashjoin', 'on', true), set_config('enable_nestloop', 'off', true)`)
  const sent = statement()
  const over = tx.rows(`select set_config('enable_hashjoin', 'off', true), set_config('enable_nestloop', 'on', true)`)
  const [, result] = await Promise.all([begun, sent, over])
  return result
}
