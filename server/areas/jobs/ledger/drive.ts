import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { START_AGAIN_AFTER, type Target } from './attempts.ts'
import { currentFlow } from './begin.ts'
import { mayPlan, planSome } from './drive-plan.ts'
import {
  applyWatched,
  checkDataset,
  type Drive,
  type DriveOptions,
  type Ending,
  endRun,
  goesOn,
  inScope,
  isPlanned,
  makeDrive,
} from './drive-state.ts'
import { shouldWrite, WRITE_EVERY, write } from './drive-write.ts'
import { makeEndWaiter, POLL_LATE, POLL_SOON } from './end-waiter.ts'
import { startsUnderCap } from './limits.ts'
import * as records from './records.ts'
import type { RunError } from './run-error.ts'
import * as runs from './runs.ts'

// One run, driven by the process that has its lease. The steps are: plan (insert ledger rows, a page ahead), claim
// (move the run's watermark), begin (start executions whose ids are derived from run, position and attempt), harvest
// (write ended executions into the ledger, many in one statement). Planning and writing run concurrently with the rest:
// when they waited for each other, the engine was idle most of the time. Everything that must survive is in the rows,
// and the state in memory is restored from them. So a runner can crash at any moment, and no finished record is
// processed twice.

const DRAIN = 10 * SECOND

/** `ready` with an error: the run ended early, and the records that succeeded until then are delivered. */
export type Finished =
  | { status: 'ready'; error: RunError | null }
  | { status: 'failed' | 'cancelled'; error: RunError | null }
  | 'parked'
  | 'stopped'

async function findAgain(drive: Drive): Promise<void> {
  const { run } = drive
  await inScope(drive, async (tx) => {
    await checkDataset(drive, tx)
    drive.attempts.claimed(await records.listBegun(tx, run))
    drive.ahead = (await records.listAhead(tx, run)).map(({ position }) => position)
    if (run.sample !== null) drive.wanted = run.sample - (await records.countTried(tx, run))
    drive.again = { count: (await records.readWaiting(tx, run)).waiting, at: 0 }
  })
}

async function begin(drive: Drive): Promise<void> {
  if (!goesOn(drive)) return
  const { attempts } = drive
  const open = attempts.busy() + drive.beingWritten
  const room = drive.metered ? startsUnderCap(drive.run, drive.spent, drive.measured, open) : Number.POSITIVE_INFINITY
  const refusal = await attempts.begin((position) => drive.pages!.textAt(position), room)
  if (refusal) endRun(drive, refusal, 'deliver')
}

const isDueForLook = (drive: Drive): boolean => drive.changed || performance.now() - drive.lookedAt >= drive.idle

/** Finds ended executions that no hint reported. Their outcomes are written a little later. */
async function lookAtEnds(drive: Drive, tx: Tx): Promise<void> {
  const { attempts, run } = drive
  const ids = attempts.ids()
  drive.changed = false
  const [ended, waits] = await Promise.all([
    records.listOver(tx, run.workspace_id, ids),
    drive.idle === POLL_LATE && records.allWait(tx, run.workspace_id, ids),
  ])
  attempts.noteEnded(ended)
  drive.options.onWaiting(run.run_id, waits && ended.length === 0)
  drive.lookedAt = performance.now()
  drive.idle = ended.length > 0 ? 4 * POLL_SOON : Math.min(POLL_LATE, drive.idle * 2)
}

/** Checks the dataset and the run before any record is started. */
async function look(drive: Drive): Promise<void> {
  const { attempts, run, lease } = drive
  const ends = attempts.running() > 0 && isDueForLook(drive)
  const begins = attempts.waiting() > 0 && (ends || attempts.running() < run.concurrency)
  if (!ends && !begins) return
  await inScope(drive, (tx) =>
    Promise.all([
      ends && lookAtEnds(drive, tx),
      begins && checkDataset(drive, tx),
      begins && currentFlow(tx, run).then(attempts.useFlow),
      // Deleting or cancelling a run ends its executions. Their free slots must not start new ones.
      begins && runs.watchRun(tx, run, lease).then((watched) => applyWatched(drive, watched)),
    ]),
  )
}

async function cancelFlying(drive: Drive): Promise<void> {
  const { workspace_id: workspaceId } = drive.run
  await inScope(drive, async (tx) => {
    for (const executionId of drive.attempts.ids())
      await drive.options.engine.cancel(tx, { workspaceId, executionId }, null)
  })
}

/** Returns how long the loop may sleep: until an execution in flight may have ended, or a record is due again. */
const waitFor = (drive: Drive): number =>
  Math.min(
    drive.attempts.toWrite() > 0 ? WRITE_EVERY : POLL_LATE,
    drive.attempts.running() > 0 ? drive.lookedAt + drive.idle - performance.now() : POLL_LATE,
    drive.attempts.waiting() > 0 ? START_AGAIN_AFTER : POLL_LATE,
    goesOn(drive) && drive.again.count > 0 ? drive.again.at - performance.now() : POLL_LATE,
  )

const isOver = (drive: Drive): boolean =>
  drive.attempts.waiting() === 0 && isPlanned(drive) && drive.ahead.length === 0 && drive.again.count === 0

/** Runs tasks concurrently with the loop, one of each name at a time. The loop wakes up when a task ends. */
function makeBackgroundTasks(wake: () => void) {
  const tasks = new Map<string, Promise<void>>()
  let broken: { error: unknown } | undefined
  return {
    has: (name: string): boolean => tasks.has(name),
    any: (): boolean => tasks.size > 0,
    settled: (): Promise<unknown> => Promise.all(tasks.values()),
    throwIfBroken(): void {
      if (broken) throw broken.error
    },
    start(name: string, work: () => Promise<void>): void {
      const task = work()
        .catch((error: unknown) => {
          broken ??= { error }
        })
        .finally(() => {
          tasks.delete(name)
          wake()
        })
      tasks.set(name, task)
    },
  }
}

export async function driveRecords(
  options: DriveOptions,
  run: runs.Run,
  lease: runs.Lease,
  target: Target,
  stop: AbortSignal,
): Promise<Finished> {
  const drive = makeDrive(options, run, lease, target)
  const { attempts } = drive
  const {
    wait: rest,
    wake,
    off,
  } = makeEndWaiter(options.engine, {
    isOurs: attempts.isRunning,
    succeeded: (executionId) => {
      attempts.noteSucceeded(executionId)
      options.onWaiting(run.run_id, false)
    },
    changed: () => {
      drive.changed = true
    },
  })
  const beside = makeBackgroundTasks(wake)
  let cancelled = false
  stop.addEventListener('abort', wake)
  try {
    await findAgain(drive)
    for (;;) {
      beside.throwIfBroken()
      if (stop.aborted) return 'stopped'
      if (!beside.has('plan') && mayPlan(drive)) beside.start('plan', () => planSome(drive))
      await look(drive)
      await begin(drive)
      if (!beside.has('write') && shouldWrite(drive)) beside.start('write', () => write(drive))
      const busy = beside.any() || attempts.busy() > 0
      const { ending } = drive
      if (ending) {
        const since = performance.now() - ending.since
        if (!cancelled && attempts.running() > 0 && (ending.how === 'cancel' || since > DRAIN)) {
          cancelled = true
          await cancelFlying(drive)
        }
        if (!busy || since > 2 * DRAIN) return finishedBy(ending)
      } else if (!busy) {
        if (drive.paused) return 'parked'
        if (isOver(drive)) return { status: 'ready', error: null }
      }
      await rest(waitFor(drive))
    }
  } finally {
    stop.removeEventListener('abort', wake)
    off()
    await Promise.all([beside.settled(), attempts.settled()])
  }
}

const finishedBy = ({ error, how }: Ending): Finished => {
  if (how === 'deliver') return { status: 'ready', error }
  return { status: how === 'cancel' ? 'cancelled' : 'failed', error }
}
