import { applyWatched, checkLimits, count, type Drive, goesOn, inScope, isPlanned } from './drive-state.ts'
import { plan } from './plan.ts'
import * as records from './records.ts'
import * as runs from './runs.ts'

const PLAN_AHEAD = 4_000
const PLAN_AT_ONCE = 2_000
/** The smaller limit if the run has a condition or a mapping, because both are evaluated on the main thread. */
const PLAN_WITH_EXPRESSIONS = 500

export const mayPlan = (drive: Drive): boolean => goesOn(drive) && !isPlanned(drive) && drive.ahead.length < PLAN_AHEAD

/** Inserts the rows of the next records into the ledger. */
export async function planSome(drive: Drive): Promise<void> {
  const { run, lease, planned } = drive
  const most = run.only_if === null && run.mapping === null ? PLAN_AT_ONCE : PLAN_WITH_EXPRESSIONS
  const texts = await drive.pages!.slice(planned, Math.min(most, run.total - planned, drive.wanted))
  const rows = texts.map((text) => plan(text, run))
  const { pending, moved, watched } = await inScope(drive, async (tx) => {
    const { pending, ...moved } = await records.insertRecords(tx, run, planned, rows)
    const watched = await runs.moveRun(tx, run, lease, { planned: planned + rows.length, ...moved })
    return { pending, moved, watched }
  })
  drive.planned += rows.length
  drive.ahead = drive.ahead.concat(pending)
  drive.wanted -= pending.length
  count(drive, moved)
  applyWatched(drive, watched)
  checkLimits(drive)
}
