import type { DatasetUse } from '#areas/datasets/use'
import type { Engine } from '#engine/ports'
import type { Definition } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { SourceCursor, SourceRows } from '../source.ts'
import { type AttemptOptions, makeAttempts, type Target } from './attempts.ts'
import { datasetChanged } from './errors.ts'
import { capReached, type Spent, spentOf, tooManyFailures } from './limits.ts'
import { makePages, type Pages } from './pages.ts'
import { makeProgress } from './progress.ts'
import { LOOK_SOON } from './rest.ts'
import type { RunError } from './run-error.ts'
import type * as runs from './runs.ts'
import { inLedger } from './scope.ts'

// What the process that drives a run knows of it. All of it is found again from the rows.

export type DriveOptions = AttemptOptions & {
  db: Database
  log: Logger
  engine: Pick<Engine, 'start' | 'cancel' | 'onAppended' | 'onEnded'>
  datasets: DatasetUse
  /** Told when a run has nothing to do but wait for its executions, which themselves wait, and when that is over. */
  onWaiting(runId: string, waits: boolean): void
  /** Whether its executions have usage to add up. */
  isMetered(definition: Definition): boolean
  readSource(
    workspaceId: string,
    sourceId: string,
    cursor: SourceCursor | null,
    signal: AbortSignal,
  ): Promise<SourceRows>
}

/**
 * Claimed together, in times of the concurrency: beginning a record does not wait for a commit of its own. With four times, all
 * that were claimed had ended before the next write was over, and the engine stood still.
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
  /** What the executions of this run used, and how many of them that is. */
  spent: Spent
  measured: number
  /** Positions with a row and still to be claimed. */
  ahead: number[]
  planned: number
  claimed: number
  /** Records that this run was asked to try and has not planned yet. */
  wanted: number
  again: { count: number; at: number }
  pages: Pages | undefined
  ending: Ending | undefined
  paused: boolean
  toldAt: number
  wroteAt: number
  /** Taken to be written: neither in flight any more nor in `spent` yet. */
  beingWritten: number
  /** One of the executions in flight changed, and no hint said how. */
  changed: boolean
  lookedAt: number
  /** Until the executions in flight are looked at without a hint. */
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
    idle: LOOK_SOON,
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

/** What people asked of the job or the run meanwhile. */
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

/** The dataset is still what it was when the run began; its pages are found anew where only the version moved. */
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
