import type { Database } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import { blobsOf } from './outputs.ts'

/** A workflow that keeps its ended executions for a number of days, and no longer. */
export type Retention = { workspace_id: string; workflow_id: string; retention_days: number }

const AT_ONCE = 500

/**
 * Forgets ended executions whose workflow asks for it, with journal and blobs. In batches, so that it never holds much; rows
 * go first: blobs that a crash leaves behind go with their week, and no row is left that names a blob that is gone.
 */
export const makeRetention =
  (deps: { db: Database; blobs: Blobs; retentions(): Promise<Retention[]> }) => async (): Promise<number> => {
    const { db, blobs } = deps
    let forgotten = 0
    for (const { workspace_id, workflow_id, retention_days } of await deps.retentions()) {
      for (;;) {
        const gone = await db.engine((tx) =>
          tx.rows<{ execution_id: string; left_blobs: boolean }>('select * from engine.forget_ended($1, $2, $3, $4)', [
            workspace_id,
            workflow_id,
            retention_days,
            AT_ONCE,
          ]),
        )
        for (const { execution_id, left_blobs } of gone) {
          if (left_blobs) await blobs.removeUnder(blobsOf({ workspaceId: workspace_id, executionId: execution_id }))
        }
        forgotten += gone.length
        if (gone.length < AT_ONCE) break
      }
    }
    return forgotten
  }
