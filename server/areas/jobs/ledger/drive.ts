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

// One run, driven by whoever holds its lease: plan (ledger rows, a page ahead), begin (executions with ids made of run,
// position and try), harvest (ends into the ledger). Everything that must survive is in the rows; what is in memory is
// found again from them, so a runner can die at any moment and no finished record is done twice.

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
const PROGRESS_EVERY = SECOND / 2
/** Looks at the executions in flight: soon while they end, seldom while they wait for people. */
const LOOK_SOON = 8
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

export async function driveRecords(
  options: DriveOptions,
  run: runs.Run,
  lease: runs.Lease,
  target: Target,
  stop: AbortSignal,
): Promise<Finished> {
  const { db, engine, datasets } = options
  const { workspace_id: workspaceId } = run
  const tally = {
    total: run.total,
    running: run.running,
    succeeded: run.succeeded,
    failed: run.failed,
    skipped: run.skipped,
  }
  const inFlight = new Map<number, { attempt: number; executionId: string }>()
  const inputs = (target.definition.inputs ?? true) as Json
  const metered = /"type":"(llm|agent)\./.test(JSON.stringify(target.definition.nodes))
  const progress = makeProgress(run)
  const starting = new Set<Promise<void>>()
  let refused: { position: number; error: RunError }[] = []
  let unstarted: records.Claimed[] = []
  let { planned, claimed } = run
  let pages: Pages | undefined
  let ending: { error: RunError | null; cancel: boolean; since: number } | undefined
  let paused = false
  let again = { waiting: 0, at: 0 }
  let toldAt = 0
  let broken: unknown
  let wakeUp: (() => void) | undefined
  const wake = (): void => wakeUp?.()

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
      pages ??= makePages({ datasets, workspaceId, versionId: run.captured_version_id, total: tally.total })
      return
    }
    const now = run.dataset_id === null ? undefined : await datasets.findPointed(tx, workspaceId, run.dataset_id)
    if (now === undefined || now.sha256 !== run.dataset_sha256) {
      end(datasetChanged(run, now?.sha256 ?? null))
      return
    }
    if (pages?.versionId !== now.version_id)
      pages = makePages({ datasets, workspaceId, versionId: now.version_id, total: tally.total })
  }

  async function planSome(): Promise<void> {
    const most = run.only_if === null ? PLAN_AT_ONCE : PLAN_WITH_CONDITION
    if (!pages) await inScope(checkDataset)
    if (!pages || ending) return
    const texts = await pages.slice(planned, Math.min(most, tally.total - planned))
    const rows = texts.map((text) => plan(text, run.only_if))
    const { made, watched } = await inScope(async (tx) => {
      const made = await records.insertRecords(tx, run, planned, rows)
      const watched = await runs.moveRun(tx, run, lease, { planned: planned + rows.length, ...made })
      return { made, watched }
    })
    planned += rows.length
    tally.skipped += made.skipped
    tally.failed += made.failed
    heed(watched)
  }

  /** Begins executions without waiting for them; a start that is refused for now is sent again with the same id. */
  async function begin(claims: records.Claimed[]): Promise<void> {
    if (claims.length === 0) return
    try {
      await options.countRuns(workspaceId, claims.length)
    } catch (error) {
      if (!isProblem(error, 'quota_exceeded')) throw error
      end({ code: error.code, message: error.message })
      return
    }
    for (const claim of claims) {
      const { position, attempt } = claim
      const record = JSON.parse(await pages!.textAt(position)) as JsonObject
      const prepared = prepareInput(run.mapping, inputs, record)
      if (!prepared.ok) {
        refused.push({ position, error: prepared.error })
        continue
      }
      const executionId = executionIdOf(run.run_id, position, attempt)
      inFlight.set(position, { attempt, executionId })
      const started = engine
        .start({
          ...target.start,
          executionId,
          workspaceId,
          input: prepared.input,
          trigger: {
            kind: 'job',
            id: run.job_id === null ? toWire('suite', run.suite_id!) : toWire('job', run.job_id),
          },
          startedBy: run.requested_by,
        })
        .then(
          () => {},
          (error: unknown) => {
            inFlight.delete(position)
            if (isProblem(error, 'malformed'))
              refused.push({ position, error: { code: error.code, message: error.message } })
            else if (isProblem(error)) unstarted.push(claim)
            else broken = error
          },
        )
        .finally(() => starting.delete(started))
      starting.add(started)
    }
  }

  async function claim(tx: Tx, room: number): Promise<records.Claimed[]> {
    await checkDataset(tx)
    if (ending) return []
    const due = again.waiting > 0 && again.at <= performance.now() ? await records.claimAgain(tx, run, room) : []
    const left = room - due.length
    if (left <= 0 || claimed >= planned) return due
    const next = await records.claimNext(tx, run, claimed, planned, left)
    next.sort((a, b) => a.position - b.position)
    // Fewer than asked for: up to here everything has been begun or needs nothing.
    claimed = next.length < left ? planned : next.at(-1)!.position + 1
    return [...due, ...next]
  }

  /** One transaction: what ended, what could not begin, what begins now, the counters, and what people asked meanwhile. */
  async function turn(): Promise<boolean> {
    const failing = refused
    const flying = [...inFlight]
    const before = claimed
    const outcome = await inScope(async (tx) => {
      const ended =
        flying.length === 0
          ? []
          : await records.harvest(
              tx,
              run,
              { positions: flying.map(([at]) => at), executionIds: flying.map(([, { executionId }]) => executionId) },
              metered,
            )
      if (failing.length > 0) await records.failRecords(tx, run, failing)
      const room = run.concurrency - (inFlight.size - ended.length) - unstarted.length
      const wanted = !ending && !paused && unstarted.length === 0 && room > 0
      const claims = wanted ? await claim(tx, room) : []
      const succeeded = ended.filter(({ status }) => status === 'succeeded').length
      const parked = ended.filter(({ status }) => status === 'failed').length + failing.length
      const moves = { running: claims.length - ended.length - failing.length, succeeded, failed: parked, claimed }
      const watched = await runs.moveRun(tx, run, lease, moves)
      const waits = ended.some(({ status }) => status === 'pending') || again.waiting > 0
      const waiting = waits ? await records.readWaiting(tx, run) : { waiting: 0, in_ms: null }
      const next = {
        ...tally,
        running: tally.running + moves.running,
        succeeded: tally.succeeded + succeeded,
        failed: tally.failed + parked,
      }
      const tell = performance.now() - toldAt > PROGRESS_EVERY
      if (tell && run.job_id !== null) await appendEvent(tx, workspaceId, run.job_id, 'job.progress', progress(next))
      for (const { execution_id, poison } of ended)
        if (poison) await engine.cancel(tx, { workspaceId, executionId: execution_id }, null)
      return { ended, claims, watched, waiting, next, tell }
    }).catch((error: unknown) => {
      claimed = before
      throw error
    })
    const { ended, claims, next, waiting } = outcome
    Object.assign(tally, next)
    refused = refused.slice(failing.length)
    for (const { position } of ended) inFlight.delete(position)
    again = { waiting: waiting.waiting, at: performance.now() + Math.max(0, waiting.in_ms ?? 0) }
    if (outcome.tell) toldAt = performance.now()
    heed(outcome.watched)
    const done = tally.succeeded + tally.failed
    if (run.stop_on_error_rate !== null && done >= RATE_AFTER && tally.failed / done > run.stop_on_error_rate)
      end({
        code: 'error_rate',
        message: `${tally.failed} of ${done} records failed, more than the job allows (stop_on_error_rate ${run.stop_on_error_rate})`,
      })
    await begin(claims)
    return ended.length > 0 || claims.length > 0 || failing.length > 0
  }

  async function cancelFlying(): Promise<void> {
    const ids = [...inFlight.values()].map(({ executionId }) => executionId)
    await inScope(async (tx) => {
      for (const executionId of ids) await engine.cancel(tx, { workspaceId, executionId }, null)
    })
    engine.nudge(ids)
  }

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const flyingIds = (ids: string[]): boolean => {
    if (ids.includes('*')) return true
    const flying = new Set([...inFlight.values()].map(({ executionId }) => executionId))
    return ids.some((id) => flying.has(id))
  }

  /** A few together: each look costs a commit, whether one record has ended or fifty. */
  async function rest(idle: number): Promise<void> {
    const due = again.waiting > 0 ? again.at - performance.now() : Number.POSITIVE_INFINITY
    await sleep(LOOK_SOON)
    const longest = Math.min(idle, due)
    if (longest > LOOK_SOON) {
      let noticed = false
      const off = engine.onAppended((ids) => {
        if (!noticed && flyingIds(ids)) {
          noticed = true
          wake()
        }
      })
      await sleep(longest - LOOK_SOON)
      off()
    }
  }

  await inScope(checkDataset)
  if (!ending) await begin(await inScope((tx) => records.listBegun(tx, run)))
  again = await inScope((tx) => records.readWaiting(tx, run)).then(({ waiting }) => ({ waiting, at: 0 }))
  stop.addEventListener('abort', wake, { once: true })
  let cancelled = false
  let idle = LOOK_SOON
  try {
    for (;;) {
      if (broken !== undefined) throw broken
      if (stop.aborted) return 'stopped'
      if (!ending && !paused && planned < tally.total && planned - claimed < PLAN_AHEAD) await planSome()
      if (unstarted.length > 0 && !ending) {
        const claims = unstarted
        unstarted = []
        await sleep(START_AGAIN_AFTER)
        await begin(claims)
      }
      const moved = await turn()
      const flying = inFlight.size + starting.size
      if (ending) {
        const late = performance.now() - ending.since > DRAIN
        if (!cancelled && flying > 0 && (ending.cancel || late)) {
          cancelled = true
          await cancelFlying()
        }
        if (flying === 0 || performance.now() - ending.since > 2 * DRAIN)
          return { status: ending.cancel ? 'cancelled' : 'failed', error: ending.error }
      } else if (flying === 0 && refused.length === 0 && unstarted.length === 0) {
        if (paused) return 'parked'
        if (planned >= tally.total && claimed >= planned && again.waiting === 0) return { status: 'ready' }
      }
      const more = !paused && !ending && planned < tally.total && planned - claimed < PLAN_AHEAD
      idle = moved ? 4 * LOOK_SOON : Math.min(LOOK_LATE, idle * 2)
      if (!more || flying >= run.concurrency) await rest(idle)
    }
  } finally {
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
