import type { DatasetUse } from '#areas/datasets/use'
import type { Engine, StartTarget } from '#engine/ports'
import type { Definition, Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { prepareInput } from '../recipe.ts'
import { appendEvent } from '../store.ts'
import { executionIdOf } from './ids.ts'
import { makePages, type Pages, plan } from './pages.ts'
import { makeProgress } from './progress.ts'
import * as records from './records.ts'
import * as runs from './runs.ts'

// One run, driven by whoever holds its lease: plan (ledger rows, a page ahead), claim (the run's watermark moves), begin
// (executions with ids made of run, position and try), harvest (ends into the ledger, many in one statement). Everything that
// must survive is in the rows; what is in memory is found again from them, so a runner can die at any moment and no
// finished record is done twice.

export type RunError = { code: string; message: string; details?: Json }

export type DriveOptions = {
  db: Database
  log: Logger
  engine: Pick<Engine, 'start' | 'cancel' | 'nudge' | 'onAppended'>
  datasets: DatasetUse
  readSource(workspaceId: string, sourceId: string, signal: AbortSignal): Promise<AsyncIterable<JsonObject[]>>
  /** Counts executions against the plan; refuses with `quota_exceeded`. */
  countRuns(workspaceId: string, count: number): Promise<void>
}

/** What a run executes, as the engine wants it. */
export type Target = { start: StartTarget; definition: Definition }

const PLAN_AHEAD = 4_000
const PLAN_AT_ONCE = 2_000
const PLAN_WITH_CONDITION = 500
/** Claimed together, in times of the concurrency: beginning a record does not wait for a commit of its own. */
const CLAIM_AHEAD = 4
const MOST_CLAIMED = 512
/** A commit costs the same for one ended record as for hundreds. */
const WRITE_AT_ONCE = 256
const WRITE_EVERY = SECOND / 8
const PROGRESS_EVERY = SECOND / 2
/** Looks at the executions in flight: soon while they end, seldom while they wait for people. */
const LOOK_SOON = 5
const LOOK_LATE = SECOND
const DRAIN = 10 * SECOND
const START_AGAIN_AFTER = SECOND / 4
/** The error rate says nothing before this many records. */
const RATE_AFTER = 100

export type Finished =
  | { status: 'ready' }
  | { status: 'failed' | 'cancelled'; error: RunError | null }
  | 'parked'
  | 'stopped'

type Flight = records.Claimed & { executionId: string }

export async function driveRecords(
  options: DriveOptions,
  run: runs.Run,
  lease: runs.Lease,
  target: Target,
  stop: AbortSignal,
): Promise<Finished> {
  const { db, engine, datasets } = options
  const { workspace_id: workspaceId } = run
  const { total } = run
  const done = { succeeded: run.succeeded, failed: run.failed, skipped: run.skipped }
  const inputs = (target.definition.inputs ?? true) as Json
  const metered = /"type":"(llm|agent)\./.test(JSON.stringify(target.definition.nodes))
  const trigger = {
    kind: 'job' as const,
    id: run.job_id === null ? toWire('suite', run.suite_id!) : toWire('job', run.job_id),
  }
  const progress = makeProgress(run)
  const claimAtOnce = Math.min(MOST_CLAIMED, CLAIM_AHEAD * run.concurrency)

  /** Positions with a row and still to be claimed. */
  let ahead: number[] = []
  /** Claimed and not begun, for want of room. */
  let waiting: records.Claimed[] = []
  const inFlight = new Map<string, Flight>()
  /** Ended, and not in the ledger yet. */
  let over: Flight[] = []
  let refused: records.Refused[] = []
  const starting = new Set<Promise<void>>()
  let { planned, claimed } = run
  let again = { count: 0, at: 0 }
  let pages: Pages | undefined
  let ending: { error: RunError | null; cancel: boolean; since: number } | undefined
  let paused = false
  let [toldAt, wroteAt, startAgainAt] = [0, 0, 0]
  let broken: unknown
  let wake = (): void => {}

  const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.tenant({ workspaceId, userId: null }, async (tx) => {
      // A generic plan made while the ledger was small would scan it for ever after.
      const planner = tx.rows(
        `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
      )
      const [, result] = await Promise.all([planner, work(tx)])
      return result
    })

  const end = (error: RunError | null, cancel = false): void => {
    ending ??= { error, cancel, since: performance.now() }
  }

  const heed = (watched: runs.Watched): void => {
    paused = watched.job_status === 'paused'
    if (watched.cancelling) end(null, true)
  }

  /** The dataset is still what it was when the run began; its pages are found anew where only the version moved. */
  async function checkDataset(tx: Tx): Promise<void> {
    if (run.captured_version_id !== null) {
      pages ??= makePages({ datasets, workspaceId, versionId: run.captured_version_id, total })
      return
    }
    const now = run.dataset_id === null ? undefined : await datasets.findPointed(tx, workspaceId, run.dataset_id)
    if (now === undefined || now.sha256 !== run.dataset_sha256) end(datasetChanged(run, now?.sha256 ?? null))
    else if (pages?.versionId !== now.version_id)
      pages = makePages({ datasets, workspaceId, versionId: now.version_id, total })
  }

  const mayPlan = (): boolean => !ending && !paused && planned < total && ahead.length < PLAN_AHEAD

  async function planSome(): Promise<void> {
    const most = run.only_if === null ? PLAN_AT_ONCE : PLAN_WITH_CONDITION
    const texts = await pages!.slice(planned, Math.min(most, total - planned))
    const rows = texts.map((text) => plan(text, run.only_if))
    const { made, watched } = await inScope(async (tx) => {
      const made = await records.insertRecords(tx, run, planned, rows)
      const { skipped, failed } = made
      const watched = await runs.moveRun(tx, run, lease, { planned: planned + rows.length, skipped, failed })
      return { made, watched }
    })
    planned += rows.length
    ahead = ahead.concat(made.pending)
    done.skipped += made.skipped
    done.failed += made.failed
    heed(watched)
  }

  /** Begins what there is room for, without waiting; a start refused for now is sent again with the same id. */
  async function begin(): Promise<void> {
    if (ending || paused || performance.now() < startAgainAt) return
    const claims = waiting.splice(0, Math.max(0, run.concurrency - inFlight.size))
    if (claims.length === 0) return
    try {
      await options.countRuns(workspaceId, claims.length)
    } catch (error) {
      if (!isProblem(error, 'quota_exceeded')) throw error
      end({ code: error.code, message: error.message })
      return
    }
    for (const claim of claims) {
      const record = JSON.parse(await pages!.textAt(claim.position)) as JsonObject
      const prepared = prepareInput(run.mapping, inputs, record)
      if (prepared.ok) start(claim, prepared.input)
      else refused.push({ ...claim, error: prepared.error })
    }
  }

  function start(claim: records.Claimed, input: JsonObject): void {
    const executionId = executionIdOf(run.run_id, claim.position, claim.attempt)
    inFlight.set(executionId, { ...claim, executionId })
    const started = engine
      .start({ ...target.start, executionId, workspaceId, input, trigger, startedBy: run.requested_by })
      .then(
        () => {},
        (error: unknown) => {
          inFlight.delete(executionId)
          if (isProblem(error, 'malformed'))
            refused.push({ ...claim, error: { code: error.code, message: error.message } })
          else if (isProblem(error)) {
            waiting.push(claim)
            startAgainAt = performance.now() + START_AGAIN_AFTER
          } else broken = error
        },
      )
      .finally(() => starting.delete(started))
    starting.add(started)
  }

  /**
   * Makes room for others at once; what came of them is written a little later, many together. What was claimed is begun
   * only after a look at the dataset.
   */
  async function look(): Promise<boolean> {
    if (inFlight.size + waiting.length === 0) return false
    const found = await inScope(async (tx) => {
      const [ended] = await Promise.all([
        records.listOver(tx, workspaceId, [...inFlight.keys()]),
        waiting.length > 0 && checkDataset(tx),
      ])
      return ended
    })
    for (const { execution_id } of found) {
      over.push(inFlight.get(execution_id)!)
      inFlight.delete(execution_id)
    }
    return found.length > 0
  }

  async function claim(tx: Tx): Promise<records.Claimed[]> {
    await checkDataset(tx)
    if (ending) return []
    const due = again.count > 0 && again.at <= performance.now() ? await records.claimAgain(tx, run, claimAtOnce) : []
    return [...due, ...ahead.slice(0, claimAtOnce).map((position) => ({ position, attempt: 1 }))]
  }

  const mayClaim = (): boolean =>
    !ending &&
    !paused &&
    waiting.length < run.concurrency &&
    (ahead.length > 0 || (again.count > 0 && again.at <= performance.now()))

  /** One transaction: what ended, what could not begin, what is claimed now, and what people asked meanwhile. */
  async function write(): Promise<void> {
    const [harvesting, failing] = [over, refused]
    const outcome = await inScope(async (tx) => {
      const flying = {
        positions: harvesting.map(({ position }) => position),
        attempts: harvesting.map(({ attempt }) => attempt),
        executionIds: harvesting.map(({ executionId }) => executionId),
      }
      const ended = harvesting.length === 0 ? [] : await records.harvest(tx, run, flying, metered)
      if (failing.length > 0) await records.failRecords(tx, run, failing)
      for (const { execution_id, poison } of ended)
        if (poison) await engine.cancel(tx, { workspaceId, executionId: execution_id }, null)
      const claims = mayClaim() ? await claim(tx) : []
      const taken = claims.filter(({ attempt }) => attempt === 1).length
      const mark = taken === 0 ? claimed : taken === ahead.length ? planned : ahead[taken]!
      const succeeded = ended.filter(({ status }) => status === 'succeeded').length
      const failed = ended.filter(({ status }) => status === 'failed').length + failing.length
      const running = inFlight.size
      const watched = await runs.moveRun(tx, run, lease, { claimed: mark, running, succeeded, failed })
      const retried = again.count > 0 || ended.some(({ status }) => status === 'pending')
      const later = retried ? await records.readWaiting(tx, run) : { waiting: 0, in_ms: null }
      const tell = run.job_id !== null && performance.now() - toldAt > PROGRESS_EVERY
      if (tell) {
        const { skipped } = done
        const tally = { total, running, succeeded: done.succeeded + succeeded, failed: done.failed + failed, skipped }
        await appendEvent(tx, workspaceId, run.job_id!, 'job.progress', progress(tally))
      }
      return { claims, taken, mark, succeeded, failed, watched, later, tell }
    })
    over = over.slice(harvesting.length)
    refused = refused.slice(failing.length)
    ahead = ahead.slice(outcome.taken)
    claimed = outcome.mark
    waiting.push(...outcome.claims)
    done.succeeded += outcome.succeeded
    done.failed += outcome.failed
    again = { count: outcome.later.waiting, at: performance.now() + Math.max(0, outcome.later.in_ms ?? 0) }
    wroteAt = performance.now()
    if (outcome.tell) toldAt = wroteAt
    heed(outcome.watched)
    heedFailures()
  }

  function heedFailures(): void {
    const finished = done.succeeded + done.failed
    if (run.stop_on_error_rate === null || finished < RATE_AFTER) return
    if (done.failed / finished <= run.stop_on_error_rate) return
    const allowed = `more than the job allows (stop_on_error_rate ${run.stop_on_error_rate})`
    end({ code: 'error_rate', message: `${done.failed} of ${finished} records failed, ${allowed}.` })
  }

  async function cancelFlying(): Promise<void> {
    const ids = [...inFlight.keys()]
    await inScope(async (tx) => {
      for (const executionId of ids) await engine.cancel(tx, { workspaceId, executionId }, null)
    })
    engine.nudge(ids)
  }

  const shouldWrite = (): boolean =>
    over.length >= WRITE_AT_ONCE ||
    mayClaim() ||
    performance.now() - wroteAt > (over.length + refused.length > 0 ? WRITE_EVERY : LOOK_LATE) ||
    inFlight.size + waiting.length === 0

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** Until something in flight was journalled, but not for ever: a hint can be lost. */
  async function rest(longest: number): Promise<void> {
    await sleep(LOOK_SOON)
    const due = again.count > 0 ? again.at - performance.now() : Number.POSITIVE_INFINITY
    const left = Math.min(longest, due) - LOOK_SOON
    if (left <= 0 || stop.aborted) return
    const off = engine.onAppended((ids) => {
      if (ids.some((id) => id === '*' || inFlight.has(id))) wake()
    })
    await sleep(left)
    off()
  }

  let cancelled = false
  let idle = LOOK_SOON
  const onStop = (): void => wake()
  stop.addEventListener('abort', onStop)
  try {
    await inScope(async (tx) => {
      await checkDataset(tx)
      waiting = await records.listBegun(tx, run)
      ahead = (await records.listAhead(tx, run)).map(({ position }) => position)
      again = { count: (await records.readWaiting(tx, run)).waiting, at: 0 }
    })
    for (;;) {
      if (broken !== undefined) throw broken
      if (stop.aborted) return 'stopped'
      if (mayPlan()) await planSome()
      const ended = await look()
      await begin()
      if (shouldWrite()) await write()
      await begin()
      const busy = inFlight.size + starting.size + over.length + refused.length
      if (ending) {
        const since = performance.now() - ending.since
        if (!cancelled && inFlight.size > 0 && (ending.cancel || since > DRAIN)) {
          cancelled = true
          await cancelFlying()
        }
        if (busy === 0 || since > 2 * DRAIN)
          return { status: ending.cancel ? 'cancelled' : 'failed', error: ending.error }
      } else if (busy === 0) {
        if (paused) return 'parked'
        if (waiting.length === 0 && planned >= total && ahead.length === 0 && again.count === 0)
          return { status: 'ready' }
      }
      idle = ended ? 4 * LOOK_SOON : Math.min(LOOK_LATE, idle * 2)
      const full = inFlight.size >= run.concurrency
      if (full || !(mayPlan() || mayClaim())) await rest(over.length > 0 ? Math.min(idle, WRITE_EVERY) : idle)
    }
  } finally {
    stop.removeEventListener('abort', onStop)
    await Promise.all(starting)
  }
}

/** Both fingerprints, so that whoever reads it can tell which records were meant. */
export const datasetChanged = (run: runs.Run, is: string | null): RunError => {
  const dataset_id = run.dataset_id === null ? null : toWire('ds', run.dataset_id)
  return {
    code: 'dataset_changed',
    message:
      is === null
        ? `The dataset with the fingerprint ${run.dataset_sha256} was deleted.`
        : `The dataset had the fingerprint ${run.dataset_sha256} when the run began and now has ${is}. Run the job again.`,
    details: { dataset_id, was: run.dataset_sha256, is },
  }
}
