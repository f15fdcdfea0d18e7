import type { FinishedRun } from '#engine/ports'
import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { firstIdAt } from '#platform/ids'
import type { Logger } from '#platform/log'
import { addTerms } from './terms.ts'

// Runs are put into the index of texts as they end: collected in memory and written once a second, beside the engine's own statements. A
// process that is killed leaves the runs of its last second out of it.

const FLUSH_EVERY = 1 * SECOND
const CHUNK_RUNS = 256
const CHUNK_TERMS = 20_000
/** Runs that are not written yet, while the database does not take them; beyond it they are left out rather than kept in memory. */
const MAX_RUNS = 50_000

type Chunk = { workspaceId: string; ids: string[]; terms: Set<number> }

export function makeRunIndex({ db, log }: { db: Database; log: Logger }) {
  let full: Chunk[] = []
  let open = new Map<string, Chunk>()
  let waiting = 0
  let writing: Promise<void> = Promise.resolve()

  function note(run: FinishedRun): void {
    if (waiting >= MAX_RUNS) return
    waiting += 1
    let chunk = open.get(run.workspaceId)
    if (chunk === undefined) {
      chunk = { workspaceId: run.workspaceId, ids: [], terms: new Set() }
      open.set(run.workspaceId, chunk)
    }
    chunk.ids.push(run.executionId)
    addTerms(chunk.terms, { ...run, error: run.error as Json })
    if (chunk.ids.length < CHUNK_RUNS && chunk.terms.size < CHUNK_TERMS) return
    open.delete(run.workspaceId)
    full.push(chunk)
  }

  async function write(): Promise<void> {
    if (waiting === 0) return
    const chunks = [...full, ...open.values()]
    full = []
    open = new Map()
    waiting = 0
    const rows = chunks.map(({ workspaceId, ids, terms }) => {
      ids.sort()
      return { workspace_id: workspaceId, first_id: ids[0], last_id: ids.at(-1), ids, terms: [...terms] }
    })
    try {
      await db.appPool.query('select add_run_terms($1)', [JSON.stringify(rows)])
    } catch (error) {
      log.warn({ err: error, runs: rows.reduce((sum, { ids }) => sum + ids.length, 0) }, 'runs were not indexed')
    }
  }
  const flush = (): Promise<void> => {
    writing = writing.then(write)
    return writing
  }
  const timer = setInterval(() => void flush(), FLUSH_EVERY)
  timer.unref()

  return {
    note,
    flush,
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}

const COMPACTED_AT_ONCE = 2_000

/** Makes large chunks of small ones, and forgets those of runs that are older than any that is kept. */
export async function tendRunIndex(
  db: Database,
  keptDays: number,
  now = Date.now(),
  atOnce = COMPACTED_AT_ONCE,
): Promise<void> {
  for (let merged = 1; merged > 0; )
    merged = (await db.maintain<{ merged: number }>('select compact_run_terms($1) as merged', [atOnce]))[0]!.merged
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_terms($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
