import type { DatasetUse } from '#areas/datasets/use'
import type { Engine } from '#engine/ports'
import type { Definition } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { SourceCursor, SourceRows } from '../source.ts'
import { type AttemptOptions, makeAttempts, type Target } from './attempts.ts'
import { POLL_SOON } from './end-waiter.ts'
import { datasetChanged } from './errors.ts'
import { capReached, type Spent, spentOf, tooManyFailures } from './limits.ts'
import { makePages, type Pages } from './pages.ts'
import { makeProgress } from './progress.ts'
import type { RunError } from './run-error.ts'
import type * as runs from './runs.ts'
import { inLedger } from './scope.ts'

// The state of a run in the process that drives it. All of it can be restored from the rows.

export type DriveOptions = AttemptOptions & {
  db: Database
  log: Logger
  engine: Pick<Engine, 'start' | 'cancel' | 'onAppended' | 'onEnded'>
  datasets: DatasetUse
  /** Called when all executions of a run wait and the run has nothing else to do, and when that is over. */
  onWaiting(runId: string, waits: boolean): void
  /** Checks whether the executions of a definition have usage to add up. */
  isMetered(definition: Definition): boolean
  readSource(
    workspaceId: string,
    sourceId: string,
    cursor: SourceCursor | null,
    signal: AbortSignal,
  ): Promise<SourceRows>
}

/**
 * The number of records claimed together, as a multiple of the concurrency, so that starting a record does not wait for
 * its own commit. With a factor of four, all claimed records had ended before the next write was finished, and the
 * engine was idle.
 */
const CLAIM_AHEAD = 16
const MAX_CLAIMED = 2_048

export type Ending = { error: RunError | null; how: 'cancel' | 'deliver' | 'give up'; since: number }

export type Drive = {
  readonly options: DriveOptions
  readonly run: runs.Run
  readonly lease: runs.Lease
  readonly attempts: ReturnType<typeof makeAttempts>
  readonly progress: ReturnType<typeof makeProgress>
  readonly metered: boolean
  readonly claimAtOnce: number
  readonly done: runs.Counted
  /** The usage of this run's executions, and the number of executions in it. */
  spent: Spent
  measured: number
  /** Positions that have a row and are not claimed yet. */
  ahead: number[]
  planned: number
  claimed: number
  /** The number of records that this run should still plan. */
  wanted: number
  again: { count: number; at: number }
  pages: Pages | undefined
  ending: Ending | undefined
  paused: boolean
  toldAt: number
  wroteAt: number
  /** The number of ended attempts being written. They are neither in flight nor in `spent`. */
  beingWritten: number
  /** An execution in flight has changed, but no hint contained the outcome. */
  changed: boolean
  lookedAt: number
  /** The time in milliseconds until the executions in flight are polled without a hint. */
  idle: number
}

export function makeDrive(options: DriveOptions, run: runs.Run, lease: runs.Lease, target: Target): Drive {
  return {
    options,
    run,
    lease,
    attempts: makeAttempts(options, run, target),
    progress: makeProgress(run),
    metered: options.isMetered(target.definition),
    claimAtOnce: Math.min(MAX_CLAIMED, CLAIM_AHEAD * run.concurrency),
    done: {
      succeeded: run.succeeded,
      failed: run.failed,
      skipped: run.skipped,
      filtered: run.filtered,
      failed_before: run.failed_before,
      first_succeeded: run.first_succeeded,
      first_failed: run.first_failed,
    },
    spent: spentOf(run.usage),
    measured: run.succeeded + run.failed - run.failed_before,
    ahead: [],
    planned: run.planned,
    claimed: run.claimed,
    wanted: run.sample === null ? Number.POSITIVE_INFINITY : run.sample,
    again: { count: 0, at: 0 },
    pages: undefined,
    ending: undefined,
    paused: false,
    toldAt: 0,
    wroteAt: 0,
    beingWritten: 0,
    changed: true,
    lookedAt: 0,
    idle: POLL_SOON,
  }
}

export const inScope = <T>({ options, run }: Drive, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inLedger(options.db, run.workspace_id, work)

export function endRun(drive: Drive, error: RunError | null, how: Ending['how']): void {
  drive.ending ??= { error, how, since: performance.now() }
}

export function count(drive: Drive, moved: Partial<runs.Counted>): void {
  for (const [name, by] of Object.entries(moved) as [keyof runs.Counted, number][]) drive.done[name] += by
}

/** Applies a pause of the job or a cancellation of the run. */
export function applyWatched(drive: Drive, watched: runs.Watched): void {
  drive.paused = watched.job_status === 'paused'
  if (watched.cancelling) endRun(drive, null, 'cancel')
}

export const goesOn = ({ ending, paused }: Drive): boolean => !ending && !paused
export const isPlanned = ({ planned, run, wanted }: Drive): boolean => planned >= run.total || wanted <= 0

export function checkLimits(drive: Drive): void {
  const reached = tooManyFailures(drive.run, drive.done) ?? capReached(drive.run, drive.spent)
  if (reached) endRun(drive, reached, 'deliver')
}

/**
 * Ends the run if the dataset has changed since its start. If only the version has another id, the pages are read from
 * the new version.
 */
export async function checkDataset(drive: Drive, tx: Tx): Promise<void> {
  const { run, options } = drive
  const { workspace_id: workspaceId, total } = run
  const pagesOf = (versionId: string): Pages => makePages({ datasets: options.datasets, workspaceId, versionId, total })
  if (run.captured_version_id !== null) {
    drive.pages ??= pagesOf(run.captured_version_id)
    return
  }
  const now = run.dataset_id === null ? undefined : await options.datasets.findPointed(tx, workspaceId, run.dataset_id)
  if (now === undefined || now.sha256 !== run.dataset_sha256)
    endRun(drive, datasetChanged(run, now?.sha256 ?? null), 'give up')
  else if (drive.pages?.versionId !== now.version_id) drive.pages = pagesOf(now.version_id)
}
