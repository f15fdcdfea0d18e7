import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { newId } from '#platform/ids'
import { countFound } from './bulk-find.ts'
import type { Bulk, NewBulk } from './bulk-schema.ts'
import * as store from './bulk-store.ts'
import { hintBulks } from './bulk-work.ts'

// Cancels or retries many executions. A request creates the bulk operation, and a worker executes it in portions.

const MAX_COUNTED = 100_000
const MAX_RUNNING = 10

export async function startBulk(ctx: Context, { action, filter, from, version }: NewBulk): Promise<Bulk> {
  const { workspace_id } = ctx.workspace
  const created_by = ctx.person.user_id
  if ((await store.countRunning(ctx.tx, workspace_id)) >= MAX_RUNNING)
    throw problem(
      'conflict',
      `At most ${MAX_RUNNING} bulk operations can run in a workspace at once. Wait until one is done.`,
    )
  await store.forgetOld(ctx.tx, workspace_id)
  const stored = store.toStored(filter)
  const { now } = await ctx.tx.row<{ now: Date }>('select now()')
  const wanted = {
    action,
    filter: stored,
    reached: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    created_by,
    created_at: now,
  }
  const total = await countFound(ctx.tx, workspace_id, wanted, MAX_COUNTED)
  const options = action === 'retry' ? { from, version } : {}
  const bulk = await store.insertBulk(ctx.tx, workspace_id, {
    bulk_id: newId(),
    action,
    filter: stored,
    options,
    created_by,
    total,
  })
  hintBulks(ctx.tx)
  return bulk
}

/** Returns a bulk operation to the person who created it. */
export async function getBulk(ctx: Context, { bulk_id }: { bulk_id: string }): Promise<Bulk> {
  const bulk = await store.findBulk(ctx.tx, ctx.workspace.workspace_id, bulk_id, ctx.person.user_id)
  if (!bulk) throw problem('not_found')
  return bulk
}
