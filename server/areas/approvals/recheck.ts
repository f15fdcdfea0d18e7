import type { Database, Tx } from '#platform/db/pool'
import { inWorkspace } from './gate-dependencies.ts'
import * as store from './store.ts'

// After a person has left or joined, the open gates and questions of the workspace are looked at again.

const RECHECKED_AT_ONCE = 50

/** What a recheck looks at: gates or questions. */
export type Rechecked = {
  /** Returns ids of those that are open, in order, without locking them. */
  listOpenIds(tx: Tx, workspaceId: string, after: string | null, limit: number): Promise<string[]>
  /** Returns those that must be changed. `lockedByOthers`: some could not be looked at. */
  look(tx: Tx, workspaceId: string, ids: string[]): Promise<{ changing: string[]; lockedByOthers: boolean }>
  /** Returns false if another transaction has locked it. */
  change(tx: Tx, workspaceId: string, id: string): Promise<boolean>
}

/** Returns false if some are locked by others. */
async function recheckAll(db: Database, workspaceId: string, rechecked: Rechecked): Promise<boolean> {
  let allChecked = true
  for (let after: string | null = null; ; ) {
    const batch = await db.tenant(inWorkspace(workspaceId), async (tx) => {
      const ids = await rechecked.listOpenIds(tx, workspaceId, after, RECHECKED_AT_ONCE)
      return { ids, ...(await rechecked.look(tx, workspaceId, ids)) }
    })
    if (batch.lockedByOthers) allChecked = false
    for (const id of batch.changing)
      if (!(await db.tenant(inWorkspace(workspaceId), (tx) => rechecked.change(tx, workspaceId, id))))
        allChecked = false
    if (batch.ids.length < RECHECKED_AT_ONCE) return allChecked
    after = batch.ids.at(-1)!
  }
}

/**
 * Looks for gates and questions to change in small batches, so that no vote waits for the whole workspace, and changes
 * each in a transaction of its own, which locks no feed before the execution of another gate. Those that are locked by
 * others are left for the next check, and the recheck request stays until all have been checked.
 */
export async function recheckWorkspace(db: Database, workspaceId: string, kinds: readonly Rechecked[]): Promise<void> {
  const asked = await db.tenant(inWorkspace(workspaceId), async (tx) => {
    const rows = await tx.rows<{ recheck_id: number }>('select recheck_id from gate_rechecks where workspace_id = $1', [
      workspaceId,
    ])
    // A gate or question that is being opened may still count on the people who left, and is not visible before its
    // transaction ends.
    await store.awaitOpenings(tx, workspaceId)
    return rows
  })
  let allChecked = true
  for (const rechecked of kinds) if (!(await recheckAll(db, workspaceId, rechecked))) allChecked = false
  if (!allChecked) return
  await db.tenant(inWorkspace(workspaceId), (tx) =>
    tx.count('delete from gate_rechecks where workspace_id = $1 and recheck_id = any ($2)', [
      workspaceId,
      asked.map(({ recheck_id }) => recheck_id),
    ]),
  )
}
