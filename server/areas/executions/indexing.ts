import { setImmediate } from 'node:timers/promises'
import type { FinishedRun } from '#engine/finished-run'
import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { firstIdAt } from '#platform/ids'
import type { Logger } from '#platform/log'
import { writePeriodically } from '#platform/periodic-write'
import { makeBlock, type Run } from './block.ts'
import { addBlocks, type Entry } from './block-store.ts'
import { mergeSmallBlocks } from './merging.ts'
import { type Indexed, termsOf } from './terms.ts'

// Executions are added to the index after they end. The engine hands them over without waiting. Once a second they are
// split into terms and written, a few at a time. The comparison in sweeping.ts finds those that a crashed process did
// not write.

const FLUSH_EVERY = 1 * SECOND
const BLOCK_RUNS = 4_096
const BLOCK_TERMS = 100_000
/** The number of executions that are split into terms before yielding to the event loop. */
const RUNS_AT_ONCE = 100
/** The maximum number of executions that are not written yet. The comparison finds those beyond it. */
const MAX_WAITING = 50_000
/** A workspace's blocks are merged after this number of new blocks or executions. */
const MERGE_BLOCKS = 16
const MERGE_RUNS = 12_288
/** An older execution may have been recorded as unfinished (sweeping.ts). */
export const OPEN_AFTER = 20 * SECOND

export type Ended = Indexed & { workspaceId: string; executionId: string }

/** Builds the blocks of these executions. */
export async function blocksOf(runs: readonly Ended[]): Promise<Entry[]> {
  const entries: Entry[] = []
  const open = new Map<string, { runs: Run[]; terms: number }>()
  const close = async (workspaceId: string): Promise<void> => {
    const members = open.get(workspaceId)?.runs ?? []
    open.delete(workspaceId)
    if (members.length > 0) entries.push({ workspaceId, block: await makeBlock(members) })
  }
  for (const [at, run] of runs.entries()) {
    if (at % RUNS_AT_ONCE === RUNS_AT_ONCE - 1) await setImmediate()
    let chunk = open.get(run.workspaceId)
    if (chunk === undefined) {
      chunk = { runs: [], terms: 0 }
      open.set(run.workspaceId, chunk)
    }
    const terms = termsOf(run)
    chunk.runs.push({ id: run.executionId, terms })
    chunk.terms += terms.size
    if (chunk.runs.length >= BLOCK_RUNS || chunk.terms >= BLOCK_TERMS) await close(run.workspaceId)
  }
  for (const workspaceId of [...open.keys()]) await close(workspaceId)
  return entries
}

const toEnded = (run: FinishedRun): Ended => ({
  workspaceId: run.workspaceId,
  executionId: run.executionId,
  workflowId: run.workflowId,
  versionId: run.versionId,
  status: run.status,
  input: run.input,
  results: run.results,
  error: run.error as Json,
})

export function makeRunIndex({ db, log }: { db: Database; log: Logger }) {
  let waiting: Ended[] = []
  const unmerged = new Map<string, { blocks: number; runs: number }>()

  function note(run: FinishedRun): void {
    if (waiting.length < MAX_WAITING) waiting.push(toEnded(run))
  }

  async function mergeWhere(entries: readonly Entry[]): Promise<void> {
    for (const { workspaceId, block } of entries) {
      const so = unmerged.get(workspaceId) ?? { blocks: 0, runs: 0 }
      const now = { blocks: so.blocks + 1, runs: so.runs + block.runs }
      unmerged.set(workspaceId, now)
      if (now.blocks < MERGE_BLOCKS && now.runs < MERGE_RUNS) continue
      unmerged.delete(workspaceId)
      await mergeSmallBlocks(db, workspaceId)
    }
  }

  async function write(): Promise<void> {
    if (waiting.length === 0) return
    const runs = waiting
    waiting = []
    try {
      const entries = await blocksOf(runs)
      await addBlocks(db, entries)
      await closeOpen(db, runs)
      await mergeWhere(entries).catch((error: unknown) =>
        log.warn({ err: error }, 'blocks of the index of runs were not merged; that is done later'),
      )
    } catch (error) {
      log.warn({ err: error, runs: runs.length }, 'executions were not indexed; a later comparison indexes them')
    }
  }

  return { note, ...writePeriodically(FLUSH_EVERY, write) }
}

/** Removes executions that are in the index now from the list of unfinished ones. */
export async function closeOpen(db: Database, runs: readonly Ended[], now = Date.now()): Promise<void> {
  const before = firstIdAt(now - OPEN_AFTER)
  const old = runs.filter(({ executionId }) => executionId < before)
  if (old.length === 0) return
  await db.appPool.query('select close_indexed_runs($1, $2)', [
    old.map(({ workspaceId }) => workspaceId),
    old.map(({ executionId }) => executionId),
  ])
}

/** Deletes blocks of executions that are past their retention. */
export async function forgetRunBlocks(db: Database, keptDays: number, now = Date.now(), atOnce = 1_000): Promise<void> {
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_blocks($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
