import type { DatasetUse } from '#areas/datasets/use'
import type { Json } from '#model/definition'
import { toStorableText } from '#model/storable'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { appendEvent } from '../events.ts'
import { notifyOwners } from '../owner-notices.ts'
import { targetOf } from './begin.ts'
import { driveRecords } from './drive.ts'
import type { DriveOptions } from './drive-state.ts'
import { datasetChanged } from './errors.ts'
import { lockJobOf, parkRun, releaseRun } from './parking.ts'
import { countsOf } from './progress.ts'
import type { RunError } from './run-error.ts'
import * as runs from './runs.ts'

// A run from the moment a process takes its lease until it ends, is parked, or is taken over.

/** Writes the output of the run (a dataset or a report), and returns the id of the dataset if it created one. */
export type Conclude = (run: runs.Run, lease: runs.Lease, versionId: string) => Promise<string | null>

export type RunnerOptions = DriveOptions & { concludeJob: Conclude; concludeSuite: Conclude }

type End = { status: 'succeeded' | 'failed' | 'cancelled'; error: RunError | null; output: string | null }

const RENEW_EVERY = 1.5 * SECOND
const TRIES = 5

export async function executeRun(
  options: RunnerOptions,
  taken: runs.Run,
  runnerId: string,
  stop: AbortSignal,
): Promise<void> {
  const { db, log } = options
  const lease = { runnerId, epoch: taken.epoch }
  const { workspace_id: workspaceId } = taken
  const lost = new AbortController()
  const either = AbortSignal.any([stop, lost.signal])
  /** Aborted when a user cancels the run or pauses the job while its rows are read. */
  const asked = new AbortController()
  const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
  const renewing = setInterval(() => {
    runs.renewLease(db, taken, lease).then(
      (watched) => {
        if (watched === undefined) lost.abort()
        else if (isAsked(watched)) asked.abort()
      },
      (error: unknown) => log.debug({ err: error }, 'a lease could not be renewed'),
    )
  }, RENEW_EVERY)

  const finish = (run: runs.Run, end: End): Promise<void> =>
    within((tx) => endRun(tx, options.datasets, run, lease, end))

  const begin = async (run: runs.Run): Promise<End | 'read' | 'parked' | 'stopped'> => {
    const look = () => within((tx) => runs.moveRun(tx, run, lease, {}))
    const error = isAsked(await look())
      ? 'given up'
      : await capture(options, run, lease, AbortSignal.any([either, asked.signal]))
    if (error === undefined) return 'read'
    if (either.aborted) return 'stopped'
    const { cancelling, job_status } = await look()
    if (cancelling) return { status: 'cancelled', error: null, output: null }
    // Also if the read failed because the credential was revoked. The rows are read when there is a new credential.
    if (job_status === 'paused' || error === 'given up') return 'parked'
    return { status: 'failed', error, output: null }
  }

  const once = async (): Promise<void> => {
    let run = await within((tx) => runs.readRun(tx, workspaceId, taken.run_id))
    if (!run) return
    if (run.status === 'starting') {
      const outcome = await begin(run)
      if (outcome === 'stopped') return void (await within((tx) => releaseRun(tx, run!, lease)))
      if (outcome === 'parked') return void (await within((tx) => parkRun(tx, run!, lease)))
      if (outcome !== 'read') return finish(run, outcome)
      run = (await within((tx) => runs.readRun(tx, workspaceId, taken.run_id)))!
    }
    if (run.status === 'running') {
      const outcome = await driveRecords(options, run, lease, await targetOf(db, run), either)
      if (outcome === 'stopped') return void (await within((tx) => releaseRun(tx, run!, lease)))
      if (outcome === 'parked') return void (await within((tx) => parkRun(tx, run!, lease)))
      if (outcome.status !== 'ready') return finish(run, { ...outcome, output: null })
      const { error } = outcome
      await within((tx) => runs.moveRun(tx, run!, lease, { status: 'writing', error }))
      run = (await within((tx) => runs.readRun(tx, workspaceId, taken.run_id)))!
    }
    return finish(run, await conclude(options, run, lease))
  }

  try {
    for (let tries = 1; ; tries++) {
      try {
        return await once()
      } catch (error) {
        if (error instanceof runs.LeaseLost || either.aborted) return
        log.warn({ err: error, run_id: taken.run_id }, 'a run was interrupted and continues')
        if (tries === TRIES && !isProblem(error, 'unavailable')) {
          const reason = { code: 'internal', message: 'An internal error occurred several times.' }
          return await finish(taken, { status: 'failed', error: reason, output: null })
        }
        if (isProblem(error, 'unavailable')) tries = 0
        await new Promise((resolve) => setTimeout(resolve, SECOND))
      }
    }
  } catch (error) {
    if (!(error instanceof runs.LeaseLost))
      log.error({ err: error, run_id: taken.run_id }, 'a run was stopped after repeated errors')
  } finally {
    clearInterval(renewing)
  }
}

const isAsked = ({ cancelling, job_status }: runs.Watched): boolean => cancelling || job_status === 'paused'

/** Stores the current rows of a source for this run only. Returns `given up` if the read was aborted. */
async function capture(
  { datasets, db, readSource }: RunnerOptions,
  run: runs.Run,
  lease: runs.Lease,
  signal: AbortSignal,
): Promise<RunError | 'given up' | undefined> {
  const { workspace_id: workspaceId } = run
  let captured: Awaited<ReturnType<DatasetUse['captureVersion']>>
  let reached: Json | undefined
  try {
    const rows = await readSource(workspaceId, run.source_id!, run.cursor_from, signal)
    captured = await datasets.captureVersion(workspaceId, rows.pages)
    reached = rows.reached()
  } catch (error) {
    if (isProblem(error, 'unavailable')) throw error
    return signal.aborted ? 'given up' : reasonOf(error, 'source_failed')
  }
  const { version_id, sha256, record_count, columns } = captured
  await db
    .tenant({ workspaceId, userId: null }, (tx) =>
      runs.moveRun(tx, run, lease, {
        status: 'running',
        total: record_count,
        dataset_sha256: sha256,
        captured_version_id: version_id,
        columns,
        cursor_to: reached === undefined ? null : { value: reached },
      }),
    )
    .catch(async (error: unknown) => {
      await db.tenant({ workspaceId, userId: null }, (tx) => datasets.releaseVersion(tx, workspaceId, version_id))
      throw error
    })
  return undefined
}

async function conclude(options: RunnerOptions, run: runs.Run, lease: runs.Lease): Promise<End> {
  const { db, datasets } = options
  const { workspace_id: workspaceId } = run
  const now =
    run.dataset_id === null
      ? undefined
      : await db.tenant({ workspaceId, userId: null }, (tx) => datasets.findPointed(tx, workspaceId, run.dataset_id!))
  if (run.captured_version_id === null && now?.sha256 !== run.dataset_sha256)
    return { status: 'failed', error: datasetChanged(run, now?.sha256 ?? null), output: null }
  try {
    const write = run.job_id === null ? options.concludeSuite : options.concludeJob
    // The dataset contains the results of a whole run, never of a sample.
    const output = run.sample === null ? await write(run, lease, run.captured_version_id ?? now!.version_id) : null
    if (run.error !== null) return { status: 'failed', error: run.error, output }
    const { failed, failed_before, succeeded, skipped } =
      (await db.tenant({ workspaceId, userId: null }, (tx) => runs.readRun(tx, workspaceId, run.run_id))) ?? run
    if (run.job_id !== null && failed > failed_before && succeeded === 0 && skipped === 0) {
      const message = `All ${failed} records failed. GET …/records?status=failed lists the reasons.`
      return { status: 'failed', error: { code: 'records_failed', message }, output }
    }
    return { status: 'succeeded', error: null, output }
  } catch (error) {
    if (error instanceof runs.LeaseLost || isProblem(error, 'unavailable')) throw error
    return { status: 'failed', error: reasonOf(error, 'output_failed'), output: null }
  }
}

/** Converts an error to the reason that people see. The code is `code`, unless the problem has a more specific one. */
function reasonOf(error: unknown, code: string): RunError {
  if (isProblem(error)) return { code: error.code === 'probe_failed' ? code : error.code, message: error.message }
  return { code, message: toStorableText((error as Error).message, 500) }
}

async function endRun(tx: Tx, datasets: DatasetUse, run: runs.Run, lease: runs.Lease, end: End): Promise<void> {
  const { workspace_id: workspaceId, job_id } = run
  const { status, error, output } = end
  await lockJobOf(tx, run)
  if (status !== 'succeeded') await runs.unclaim(tx, run)
  const ended = await runs.endRun(tx, run, lease, { status, error: error as Json, output_dataset_id: output })
  if (ended.captured_version_id !== null) await datasets.releaseVersion(tx, workspaceId, ended.captured_version_id)
  if (job_id === null) return
  await runs.settleJob(tx, run, status === 'failed' ? 'failed' : 'idle')
  if (status === 'succeeded' && run.sample === null) await runs.settleSource(tx, run)
  await appendEvent(tx, workspaceId, job_id, 'job.finished', {
    run_id: toWire('run', run.run_id),
    status,
    error: error as Json,
    total: ended.total,
    counts: countsOf(ended),
    output_dataset_id: output === null ? null : toWire('ds', output),
    sample: run.sample,
  })
  if (status === 'failed') {
    const job = { job_id, title: 'failed', body: error!.message }
    await notifyOwners(tx, workspaceId, job, 'job.failed', { code: error!.code })
  }
}
