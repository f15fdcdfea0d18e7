import { setImmediate } from 'node:timers/promises'
import type { FinishedRun } from '#engine/finished-run'
import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { firstIdAt } from '#platform/ids'
import type { Logger } from '#platform/log'
import { writeRegularly } from '#platform/writing'
import { makeBlock, type Run } from './block.ts'
import { addBlocks, type Entry } from './block-store.ts'
import { mergeSmallBlocks } from './merging.ts'
import { type Indexed, termsOf } from './terms.ts'

// Runs are put into the index of words after they have ended: the engine hands them over and goes on, and once a second they are taken to
// pieces and written, a few at a time. What a process that is killed did not write is found by comparing (sweeping.ts).

const FLUSH_EVERY = 1 * SECOND
const BLOCK_RUNS = 4_096
const BLOCK_TERMS = 100_000
/** Runs that are taken to pieces before others have their turn. */
const RUNS_AT_ONCE = 100
/** Runs that are not written yet; those beyond are found by comparing. */
const MAX_WAITING = 50_000
/** Blocks or runs of a workspace after which its blocks are merged. */
const MERGE_BLOCKS = 16
const MERGE_RUNS = 12_288
/** A run that is older may be among those that were found at work (sweeping.ts). */
export const OPEN_AFTER = 20 * SECOND

export type Ended = Indexed & { workspaceId: string; executionId: string }

/** Blocks of these runs. */
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
      log.warn({ err: error, runs: runs.length }, 'runs were not indexed; they are found by comparing')
    }
  }

  return { note, ...writeRegularly(FLUSH_EVERY, write) }
}

/** Runs that were found at work and are in the index now. */
export async function closeOpen(db: Database, runs: readonly Ended[], now = Date.now()): Promise<void> {
  const before = firstIdAt(now - OPEN_AFTER)
  const old = runs.filter(({ executionId }) => executionId < before)
  if (old.length === 0) return
  await db.appPool.query('select close_indexed_runs($1, $2)', [
    old.map(({ workspaceId }) => workspaceId),
    old.map(({ executionId }) => executionId),
  ])
}

/** Forgets blocks of runs that are older than any that is kept. */
export async function forgetRunBlocks(db: Database, keptDays: number, now = Date.now(), atOnce = 1_000): Promise<void> {
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_blocks($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
