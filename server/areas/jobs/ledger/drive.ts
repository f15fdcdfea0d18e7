import type { DatasetUse } from '#areas/datasets/use'
import type { Engine } from '#engine/ports'
import type { Definition, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { appendEvent } from '../events.ts'
import type { SourceCursor, SourceRows } from '../source.ts'
import { datasetChanged } from './errors.ts'
import { type FlightOptions, makeFlights, type Target } from './flights.ts'
import { addSpent, capReached, roomUnderCap, spentOf, tooManyFailures } from './limits.ts'
import { makePages, type Pages } from './pages.ts'
import { plan } from './plan.ts'
import { makeProgress } from './progress.ts'
import * as records from './records.ts'
import { LOOK_LATE, LOOK_SOON, makeRest } from './rest.ts'
import type { RunError } from './run-error.ts'
import * as runs from './runs.ts'
import { inLedger } from './scope.ts'

// One run, driven by the process that holds its lease: plan (ledger rows, a page ahead), claim (the run's watermark moves), begin
// (executions with ids made of run, position and try), harvest (ends into the ledger, many in one statement). Planning and
// writing go on beside the rest: while they waited for each other the engine stood still most of the time. Everything that
// must survive is in the rows; what is in memory is found again from them, so a runner can die at any moment and no
// finished record is done twice.

export type DriveOptions = FlightOptions & {
  db: Database
  log: Logger
  engine: Pick<Engine, 'start' | 'cancel' | 'onAppended'>
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

const PLAN_AHEAD = 4_000
const PLAN_AT_ONCE = 2_000
/** With a condition or a mapping: both are evaluated on the main thread. */
const PLAN_WITH_EXPRESSIONS = 500
/**
 * Claimed together, in times of the concurrency: beginning a record does not wait for a commit of its own. With four times, all
 * that were claimed had ended before the next write was over, and the engine stood still.
 */
const CLAIM_AHEAD = 16
const MAX_CLAIMED = 2_048
/** A commit costs the same for one ended record as for hundreds. */
const WRITE_AT_ONCE = 256
const WRITE_EVERY = SECOND / 8
const PROGRESS_EVERY = SECOND / 2
const DRAIN = 10 * SECOND

/** `ready` with an error: it ended early, and what succeeded until then is delivered. */
export type Finished =
  | { status: 'ready'; error: RunError | null }
  | { status: 'failed' | 'cancelled'; error: RunError | null }
  | 'parked'
  | 'stopped'

export async function driveRecords(
  options: DriveOptions,
  run: runs.Run,
  lease: runs.Lease,
  target: Target,
  stop: AbortSignal,
): Promise<Finished> {
  const { db, engine, datasets } = options
  const { workspace_id: workspaceId, total } = run
  const done: runs.Counted = {
    succeeded: run.succeeded,
    failed: run.failed,
    skipped: run.skipped,
    filtered: run.filtered,
    failed_before: run.failed_before,
    first_succeeded: run.first_succeeded,
    first_failed: run.first_failed,
  }
  const count = (moved: Partial<runs.Counted>): void => {
    for (const [name, by] of Object.entries(moved) as [keyof runs.Counted, number][]) done[name] += by
  }
  /** What the executions of this run used, and how many of them that is. */
  let spent = spentOf(run.usage)
  let measured = run.succeeded + run.failed - run.failed_before
  const metered = options.isMetered(target.definition)
  const progress = makeProgress(run)
  const claimAtOnce = Math.min(MAX_CLAIMED, CLAIM_AHEAD * run.concurrency)
  const flights = makeFlights(options, run, target)
  const { rest, wake, off } = makeRest(engine, flights.isFlying)

  /** Positions with a row and still to be claimed. */
  let ahead: number[] = []
  let { planned, claimed } = run
  let again = { count: 0, at: 0 }
  let pages: Pages | undefined
  let ending: { error: RunError | null; how: 'cancel' | 'deliver' | 'give up'; since: number } | undefined
  let paused = false
  let [toldAt, wroteAt] = [0, 0]
  let [planning, writing] = [false, false]
  /** Taken to be written: neither in flight any more nor in `spent` yet. */
  let beingWritten = 0
  let idle = LOOK_SOON
  const beside = new Set<Promise<void>>()
  let broken: { error: unknown } | undefined

  const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => inLedger(db, workspaceId, work)

  const end = (error: RunError | null, how: 'cancel' | 'deliver' | 'give up'): void => {
    ending ??= { error, how, since: performance.now() }
  }

  const heed = (watched: runs.Watched): void => {
    paused = watched.job_status === 'paused'
    if (watched.cancelling) end(null, 'cancel')
  }

  /** The dataset is still what it was when the run began; its pages are found anew where only the version moved. */
  async function checkDataset(tx: Tx): Promise<void> {
    if (run.captured_version_id !== null) {
      pages ??= makePages({ datasets, workspaceId, versionId: run.captured_version_id, total })
      return
    }
    const now = run.dataset_id === null ? undefined : await datasets.findPointed(tx, workspaceId, run.dataset_id)
    if (now === undefined || now.sha256 !== run.dataset_sha256) end(datasetChanged(run, now?.sha256 ?? null), 'give up')
    else if (pages?.versionId !== now.version_id)
      pages = makePages({ datasets, workspaceId, versionId: now.version_id, total })
  }

  const goesOn = (): boolean => !ending && !paused
  /** Records that this run was asked to try and has not planned yet. */
  let wanted = run.sample === null ? Number.POSITIVE_INFINITY : run.sample
  const isPlanned = (): boolean => planned >= total || wanted <= 0
  const mayPlan = (): boolean => goesOn() && !isPlanned() && ahead.length < PLAN_AHEAD

  async function planSome(): Promise<void> {
    const most = run.only_if === null && run.mapping === null ? PLAN_AT_ONCE : PLAN_WITH_EXPRESSIONS
    const texts = await pages!.slice(planned, Math.min(most, total - planned, wanted))
    const rows = texts.map((text) => plan(text, run))
    const { made, watched } = await inScope(async (tx) => {
      const { pending, ...moved } = await records.insertRecords(tx, run, planned, rows)
      const watched = await runs.moveRun(tx, run, lease, { planned: planned + rows.length, ...moved })
      return { made: { pending, moved }, watched }
    })
    planned += rows.length
    ahead = ahead.concat(made.pending)
    wanted -= made.pending.length
    count(made.moved)
    heed(watched)
    checkLimits()
  }

  async function begin(): Promise<void> {
    if (!goesOn()) return
    const room = metered ? roomUnderCap(run, spent, measured, flights.busy() + beingWritten) : Number.POSITIVE_INFINITY
    const refusal = await flights.begin((position) => pages!.textAt(position), room)
    if (refusal) end(refusal, 'deliver')
  }

  /** Makes room for others at once; what came of them is written a little later. Nothing is begun without a look at the dataset and at the run. */
  async function look(): Promise<boolean> {
    if (flights.flying() + flights.waiting() === 0) return false
    const { ended, waits } = await inScope(async (tx) => {
      const ids = flights.ids()
      const [ended, waits] = await Promise.all([
        records.listOver(tx, workspaceId, ids),
        idle === LOOK_LATE && ids.length > 0 && records.allWait(tx, workspaceId, ids),
        flights.waiting() > 0 && checkDataset(tx),
        // Anyone who deletes what it runs for, or cancels it, ends its executions: that makes no room for others.
        flights.waiting() > 0 && runs.watchRun(tx, run, lease).then(heed),
      ])
      return { ended, waits }
    })
    flights.landed(ended)
    options.onWaiting(run.run_id, waits && ended.length === 0)
    return ended.length > 0
  }

  async function claim(tx: Tx): Promise<records.Claimed[]> {
    await checkDataset(tx)
    if (ending) return []
    const due = again.count > 0 && again.at <= performance.now() ? await records.claimAgain(tx, run, claimAtOnce) : []
    return [...due, ...ahead.slice(0, claimAtOnce).map((position) => ({ position, attempt: 1 }))]
  }

  const mayClaim = (): boolean =>
    goesOn() &&
    flights.waiting() < claimAtOnce / 2 &&
    (ahead.length > 0 || (again.count > 0 && again.at <= performance.now()))

  /** One transaction: what ended, what could not begin, what is claimed now, and what people asked meanwhile. */
  async function write(): Promise<void> {
    const landed = flights.takeEnded()
    beingWritten = landed.ended.length
    const flown = await Promise.all(
      landed.ended.map(async (one) => ({
        ...one,
        text: one.verdict.status === 'failed' ? await textAt(one.position) : null,
      })),
    )
    const failing = await Promise.all(landed.failing.map(async (one) => ({ ...one, text: await textAt(one.position) })))
    const outcome = await inScope(async (tx) => {
      const ended = flown.length === 0 ? [] : await records.harvest(tx, run, flown, metered)
      const refused =
        failing.length === 0 ? { failed: 0, first_failed: 0 } : await records.failRecords(tx, run, failing)
      for (const { execution_id, poison } of ended)
        if (poison) await engine.cancel(tx, { workspaceId, executionId: execution_id }, null)
      const claims = mayClaim() ? await claim(tx) : []
      const taken = claims.filter(({ attempt }) => attempt === 1).length
      const mark = taken === 0 ? claimed : taken === ahead.length ? planned : ahead[taken]!
      const moved = {
        succeeded: ended.filter(({ status }) => status === 'succeeded').length,
        failed: ended.filter(({ status }) => status === 'failed').length + refused.failed,
        first_succeeded: ended.filter(({ status, retried }) => status === 'succeeded' && !retried).length,
        first_failed:
          ended.filter(({ status, retried }) => status === 'failed' && !retried).length + refused.first_failed,
      }
      const used = ended.map(({ usage }) => spentOf(usage)).reduce(addSpent, { tokens: 0, cost: 0 })
      const running = flights.flying()
      const usage = sumUsage(ended.map(({ usage }) => usage))
      const watched = await runs.moveRun(tx, run, lease, { claimed: mark, running, usage, ...moved })
      const retried = again.count > 0 || ended.some(({ status }) => status === 'pending')
      const later = retried ? await records.readWaiting(tx, run) : { waiting: 0, in_ms: null }
      const tell = run.job_id !== null && performance.now() - toldAt > PROGRESS_EVERY
      if (tell) {
        const tally = {
          ...done,
          total,
          running,
          succeeded: done.succeeded + moved.succeeded,
          failed: done.failed + moved.failed,
        }
        await appendEvent(tx, workspaceId, run.job_id!, 'job.progress', progress(tally))
      }
      return { claims, taken, mark, moved, used, measured: ended.length, watched, later, tell }
    })
    ahead = ahead.slice(outcome.taken)
    claimed = outcome.mark
    flights.claimed(outcome.claims)
    count(outcome.moved)
    spent = addSpent(spent, outcome.used)
    measured += outcome.measured
    beingWritten = 0
    again = { count: outcome.later.waiting, at: performance.now() + Math.max(0, outcome.later.in_ms ?? 0) }
    wroteAt = performance.now()
    if (outcome.tell) toldAt = wroteAt
    heed(outcome.watched)
    checkLimits()
  }

  function checkLimits(): void {
    const reached = tooManyFailures(run, done) ?? capReached(run, spent)
    if (reached) end(reached, 'deliver')
  }

  /** Null where the dataset was replaced meanwhile. */
  const textAt = (position: number): Promise<string | null> => pages!.textAt(position).catch(() => null)

  const shouldWrite = (): boolean =>
    flights.toWrite() >= WRITE_AT_ONCE ||
    mayClaim() ||
    performance.now() - wroteAt > (flights.toWrite() > 0 ? WRITE_EVERY : LOOK_LATE)

  /** Without waiting for it; the loop goes on at once when it is over. */
  function doBeside(work: () => Promise<void>, over: () => void): void {
    const task = work()
      .catch((error: unknown) => {
        broken ??= { error }
      })
      .finally(() => {
        beside.delete(task)
        over()
        wake()
      })
    beside.add(task)
  }

  function planBeside(): void {
    planning = true
    doBeside(planSome, () => {
      planning = false
    })
  }

  function writeBeside(): void {
    writing = true
    doBeside(write, () => {
      writing = false
    })
  }

  async function cancelFlying(): Promise<void> {
    await inScope(async (tx) => {
      for (const executionId of flights.ids()) await engine.cancel(tx, { workspaceId, executionId }, null)
    })
  }

  /** How long there may be nothing to do: until something in flight is journalled, or a record is due again. */
  const restFor = (idle: number): number =>
    Math.min(
      flights.toWrite() > 0 ? WRITE_EVERY : LOOK_LATE,
      idle,
      goesOn() && again.count > 0 ? again.at - performance.now() : LOOK_LATE,
    )

  let cancelled = false
  stop.addEventListener('abort', wake)
  try {
    await inScope(async (tx) => {
      await checkDataset(tx)
      flights.claimed(await records.listBegun(tx, run))
      ahead = (await records.listAhead(tx, run)).map(({ position }) => position)
      if (run.sample !== null) wanted = run.sample - (await records.countTried(tx, run))
      again = { count: (await records.readWaiting(tx, run)).waiting, at: 0 }
    })
    for (;;) {
      if (broken) throw broken.error
      if (stop.aborted) return 'stopped'
      if (!planning && mayPlan()) planBeside()
      const ended = await look()
      await begin()
      if (!writing && shouldWrite()) writeBeside()
      const busy = planning || writing || flights.busy() > 0
      if (ending) {
        const since = performance.now() - ending.since
        if (!cancelled && flights.flying() > 0 && (ending.how === 'cancel' || since > DRAIN)) {
          cancelled = true
          await cancelFlying()
        }
        if (!busy || since > 2 * DRAIN) return finishedBy(ending)
      } else if (!busy) {
        if (paused) return 'parked'
        if (flights.waiting() === 0 && isPlanned() && ahead.length === 0 && again.count === 0)
          return { status: 'ready', error: null }
      }
      idle = ended ? 4 * LOOK_SOON : Math.min(LOOK_LATE, idle * 2)
      await rest(restFor(idle))
    }
  } finally {
    stop.removeEventListener('abort', wake)
    off()
    await Promise.all([...beside, flights.settled()])
  }
}

const finishedBy = ({ error, how }: { error: RunError | null; how: 'cancel' | 'deliver' | 'give up' }): Finished => {
  if (how === 'deliver') return { status: 'ready', error }
  return { status: how === 'cancel' ? 'cancelled' : 'failed', error }
}

function sumUsage(usages: (JsonObject | null)[]): JsonObject | null {
  const sum: Record<string, number> = {}
  for (const usage of usages)
    for (const [name, value] of Object.entries(usage ?? {})) sum[name] = (sum[name] ?? 0) + Number(value)
  return Object.keys(sum).length === 0 ? null : sum
}
