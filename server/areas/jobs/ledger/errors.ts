import { toWire } from '#platform/ids'
import type { RunError } from './run-error.ts'
import type { Run } from './runs.ts'

/** Contains both fingerprints, so that the reader can tell which records were meant. */
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
