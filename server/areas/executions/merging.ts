import type { Database } from '#platform/db/pool'
import { MAX_RUNS, mergeBlocks } from './block.ts'
import { addBlockIn } from './block-store.ts'

// Small blocks become larger ones, so that a search reads few of them. Sixteen of one size make one of the next, so a run is written
// three or four times in all.

const MAX_PAIRS = 400_000
const TOGETHER = 16
/** Larger blocks are merged once they fill one. */
const MIDDLE = 256
const FULL = 4_096
const FILLED = 12_288

type Small = { block_id: string; runs: number; pairs: number }

/** The blocks that should become one, out of those that are not full, oldest first; none where it is not worth it yet. */
export function chooseBlocks(blocks: readonly Small[]): string[] {
  const tiers = [
    blocks.filter(({ runs }) => runs < TOGETHER),
    blocks.filter(({ runs }) => runs >= TOGETHER && runs < MIDDLE),
    blocks.filter(({ runs }) => runs >= MIDDLE && runs < FULL),
  ]
  for (const [tier, members] of tiers.entries()) {
    const chosen = upToFull(members)
    const runs = chosen.reduce((sum, one) => sum + one.runs, 0)
    const pairs = chosen.reduce((sum, one) => sum + one.pairs, 0)
    const isWorthIt = tier === 2 ? runs >= FILLED || pairs >= MAX_PAIRS * 0.75 : chosen.length >= TOGETHER
    if (isWorthIt && chosen.length > 1) return chosen.map(({ block_id }) => block_id)
  }
  return []
}

function upToFull(members: readonly Small[]): Small[] {
  let runs = 0
  let pairs = 0
  const chosen: Small[] = []
  for (const one of members) {
    runs += one.runs
    pairs += one.pairs
    if (runs > MAX_RUNS || pairs > MAX_PAIRS) break
    chosen.push(one)
  }
  return chosen
}

type Content = { block_id: string; ids: Buffer; dir: Buffer; data: Buffer; pairs: number }

/** Merges until there is nothing left to merge. Blocks that another process is merging are left to it. */
export async function mergeSmallBlocks(db: Database, workspaceId: string): Promise<void> {
  for (let again = true; again; )
    again = await db.tenant({ workspaceId, userId: null }, async (tx) => {
      const small = await tx.rows<Small>(
        `select block_id, runs, pairs from run_blocks where workspace_id = $1 and runs < $2 order by last_id limit 256 for update skip locked`,
        [workspaceId, FULL],
      )
      const chosen = chooseBlocks(small)
      if (chosen.length === 0) return false
      const contents = await tx.rows<Content>(
        'delete from run_blocks where workspace_id = $1 and block_id = any($2) returning block_id, ids, dir, data, pairs',
        [workspaceId, chosen],
      )
      await addBlockIn(tx, workspaceId, await mergeBlocks(contents))
      return true
    })
}

/** Workspaces whose blocks nobody merged: they ran in processes that were stopped since. */
export async function mergeEverywhere(db: Database): Promise<void> {
  const rows = await db.maintain<{ id: string }>('select id from workspaces_with_small_blocks($1, 1000) as id', [
    TOGETHER,
  ])
  for (const { id } of rows) await mergeSmallBlocks(db, id)
}
