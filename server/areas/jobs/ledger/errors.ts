import type { Json } from '#model/definition'
import { toWire } from '#platform/ids'
import type { Run } from './runs.ts'

export type RunError = { code: string; message: string; details?: Json }

/** Both fingerprints, so that the person who reads it can tell which records were meant. */
export const datasetChanged = (run: Run, is: string | null): RunError => {
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

/** The error rate says nothing before this many records. */
const RATE_AFTER = 100

export function tooManyFailures(run: Run, done: Pick<Run, 'succeeded' | 'failed'>): RunError | undefined {
  const finished = done.succeeded + done.failed
  if (run.stop_on_error_rate === null || finished < RATE_AFTER) return undefined
  if (done.failed / finished <= run.stop_on_error_rate) return undefined
  const allowed = `more than the job allows (stop_on_error_rate ${run.stop_on_error_rate})`
  return { code: 'error_rate', message: `${done.failed} of ${finished} records failed, ${allowed}.` }
}
