import type { Database } from '#platform/db/pool'
import type { Blobs } from '#providers/blobs/index'
import { blobsOf } from './outputs.ts'

/** A workflow that keeps its ended executions only for a number of days. */
export type Retention = { workspace_id: string; workflow_id: string; retention_days: number }

const AT_ONCE = 500

/**
 * Deletes ended executions, with journal and blobs, according to the retention of their workflow. It works in
 * batches, to keep transactions small. Rows are deleted first: blobs that a crash leaves behind are deleted with
 * their week, and no row names a deleted blob.
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
