import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { appendEvent } from '../events.ts'
import { applyWatched, checkDataset, checkLimits, count, type Drive, goesOn, inScope } from './drive-state.ts'
import { POLL_LATE } from './end-waiter.ts'
import { addSpent, spentOf } from './limits.ts'
import * as records from './records.ts'
import * as runs from './runs.ts'

/** A commit costs the same for one ended record as for hundreds. */
const WRITE_AT_ONCE = 256
export const WRITE_EVERY = SECOND / 8
const PROGRESS_EVERY = SECOND / 2

const isDueAgain = ({ again }: Drive): boolean => again.count > 0 && again.at <= performance.now()

const mayClaim = (drive: Drive): boolean =>
  goesOn(drive) && drive.attempts.waiting() < drive.claimAtOnce / 2 && (drive.ahead.length > 0 || isDueAgain(drive))

export const shouldWrite = (drive: Drive): boolean =>
  drive.attempts.toWrite() >= WRITE_AT_ONCE ||
  mayClaim(drive) ||
  performance.now() - drive.wroteAt > (drive.attempts.toWrite() > 0 ? WRITE_EVERY : POLL_LATE)

async function claim(drive: Drive, tx: Tx): Promise<records.Claimed[]> {
  await checkDataset(drive, tx)
  if (drive.ending) return []
  const due = isDueAgain(drive) ? await records.claimAgain(tx, drive.run, drive.claimAtOnce) : []
  return [...due, ...drive.ahead.slice(0, drive.claimAtOnce).map((position) => ({ position, attempt: 1 }))]
}

/**
 * Returns the ended and the refused records, with the text of each failed record. The text is null if the dataset was
 * replaced in the meantime.
 */
async function takeEnded(drive: Drive) {
  const textAt = (position: number): Promise<string | null> => drive.pages!.textAt(position).catch(() => null)
  const done = drive.attempts.takeEnded()
  drive.beingWritten = done.ended.length
  const ended = await Promise.all(
    done.ended.map(async (one) => ({
      ...one,
      text: one.verdict.status === 'failed' ? await textAt(one.position) : null,
    })),
  )
  const failing = await Promise.all(done.failing.map(async (one) => ({ ...one, text: await textAt(one.position) })))
  return { ended, failing }
}

type Harvested = Awaited<ReturnType<typeof records.harvest>>

const movedBy = (ended: Harvested, refused: { failed: number; first_failed: number }) => {
  const howMany = (status: 'succeeded' | 'failed', first: boolean): number =>
    ended.filter((one) => one.status === status && !(first && one.retried)).length
  return {
    succeeded: howMany('succeeded', false),
    failed: howMany('failed', false) + refused.failed,
    first_succeeded: howMany('succeeded', true),
    first_failed: howMany('failed', true) + refused.first_failed,
  }
}

/** Reports the progress to those who watch the job, at intervals. */
async function reportProgress(drive: Drive, tx: Tx, moved: { succeeded: number; failed: number }): Promise<boolean> {
  const { run, done } = drive
  if (run.job_id === null || performance.now() - drive.toldAt <= PROGRESS_EVERY) return false
  const tally = {
    ...done,
    total: run.total,
    running: drive.attempts.running(),
    succeeded: done.succeeded + moved.succeeded,
    failed: done.failed + moved.failed,
  }
  await appendEvent(tx, run.workspace_id, run.job_id, 'job.progress', drive.progress(tally))
  return true
}

/**
 * Writes in one transaction: ended records, refused records, new claims, and the run's progress. Reads whether people
 * cancelled the run or paused the job.
 */
export async function write(drive: Drive): Promise<void> {
  const { run, lease, attempts } = drive
  const { workspace_id: workspaceId } = run
  const done = await takeEnded(drive)
  const outcome = await inScope(drive, async (tx) => {
    const ended = done.ended.length === 0 ? [] : await records.harvest(tx, run, done.ended, drive.metered)
    const refused =
      done.failing.length === 0 ? { failed: 0, first_failed: 0 } : await records.failRecords(tx, run, done.failing)
    for (const { execution_id, poison } of ended)
      if (poison) await drive.options.engine.cancel(tx, { workspaceId, executionId: execution_id }, null)
    const claims = mayClaim(drive) ? await claim(drive, tx) : []
    const taken = claims.filter(({ attempt }) => attempt === 1).length
    const mark = taken === 0 ? drive.claimed : taken === drive.ahead.length ? drive.planned : drive.ahead[taken]!
    const moved = movedBy(ended, refused)
    const usage = sumUsage(ended.map(({ usage }) => usage))
    // Locks the job before its run, in the same order as a cancellation, to avoid a deadlock.
    const told = await reportProgress(drive, tx, moved)
    const watched = await runs.moveRun(tx, run, lease, { claimed: mark, running: attempts.running(), usage, ...moved })
    const retried = drive.again.count > 0 || ended.some(({ status }) => status === 'pending')
    const later = retried ? await records.readWaiting(tx, run) : { waiting: 0, in_ms: null }
    return { ended, claims, taken, mark, moved, watched, later, told }
  })
  drive.ahead = drive.ahead.slice(outcome.taken)
  drive.claimed = outcome.mark
  attempts.claimed(outcome.claims)
  count(drive, outcome.moved)
  drive.spent = outcome.ended.map(({ usage }) => spentOf(usage)).reduce(addSpent, drive.spent)
  drive.measured += outcome.ended.length
  drive.beingWritten = 0
  drive.again = { count: outcome.later.waiting, at: performance.now() + Math.max(0, outcome.later.in_ms ?? 0) }
  drive.wroteAt = performance.now()
  if (outcome.told) drive.toldAt = drive.wroteAt
  applyWatched(drive, outcome.watched)
  checkLimits(drive)
}

function sumUsage(usages: (JsonObject | null)[]): JsonObject | null {
  const sum: Record<string, number> = {}
  for (const usage of usages)
    for (const [name, value] of Object.entries(usage ?? {})) sum[name] = (sum[name] ?? 0) + Number(value)
  return Object.keys(sum).length === 0 ? null : sum
}
