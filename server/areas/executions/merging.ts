import type { Database, Tx } from '#platform/db/pool'
import { type Block, MAX_RUNS, mergeBlocks } from './block.ts'
import { addBlockIn } from './block-store.ts'

// Merges small blocks, so that a search reads few blocks. Sixteen blocks of one size become one of the next size, so
// each execution is written three or four times in total.

const MAX_PAIRS = 400_000
const TOGETHER = 16
/** Blocks with at least this number of executions are merged only when they fill a whole block. */
const MIDDLE = 256
const FULL = 4_096
const FILLED = 12_288

type Small = { block_id: string; runs: number; pairs: number }

/**
 * Chooses the blocks to merge into one, out of those that are not full, oldest first. Returns none if merging is not
 * worthwhile yet.
 */
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

type Content = { ids: Buffer; dir: Buffer; data: Buffer; pairs: number }

/** Another process merged one of the blocks in the meantime. */
class AlreadyMerged extends Error {}

/** Merges until nothing is left to merge or another process merges the same blocks. Holds no lock while it computes. */
export async function mergeSmallBlocks(db: Database, workspaceId: string): Promise<void> {
  const inWorkspace = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
  for (;;) {
    const chosen = chooseBlocks(await inWorkspace((tx) => listSmall(tx, workspaceId)))
    if (chosen.length === 0) return
    const contents = await inWorkspace((tx) => readContents(tx, workspaceId, chosen))
    if (contents.length < chosen.length) return
    const merged = await mergeBlocks(contents)
    try {
      await inWorkspace((tx) => replaceBlocks(tx, workspaceId, chosen, merged))
    } catch (error) {
      if (error instanceof AlreadyMerged) return
      throw error
    }
  }
}

const listSmall = (tx: Tx, workspaceId: string): Promise<Small[]> =>
  tx.rows<Small>(
    'select block_id, runs, pairs from run_blocks where workspace_id = $1 and runs < $2 order by last_id limit 256',
    [workspaceId, FULL],
  )

const readContents = (tx: Tx, workspaceId: string, blockIds: string[]): Promise<Content[]> =>
  tx.rows<Content>(
    'select ids, dir, data, pairs from run_blocks where workspace_id = $1 and block_id = any ($2::uuid[])',
    [workspaceId, blockIds],
  )

async function replaceBlocks(tx: Tx, workspaceId: string, blockIds: string[], merged: Block): Promise<void> {
  const gone = await tx.count('delete from run_blocks where workspace_id = $1 and block_id = any ($2::uuid[])', [
    workspaceId,
    blockIds,
  ])
  if (gone < blockIds.length) throw new AlreadyMerged('a block was merged by another process')
  await addBlockIn(tx, workspaceId, merged)
}

/** Merges the blocks of workspaces whose processes stopped before they merged. */
export async function mergeEverywhere(db: Database): Promise<void> {
  const rows = await db.maintain<{ id: string }>('select id from workspaces_with_small_blocks($1, 1000) as id', [
    TOGETHER,
  ])
  for (const { id } of rows) await mergeSmallBlocks(db, id)
}
