import { NodeFailure } from '#engine/node'
import { toWire } from '#platform/ids'
import { changedFrom } from './reading.ts'
import { RecordsRefused } from './records/refused.ts'

// The errors of nodes that read or write a dataset.

export const final = { retryable: false }

export const unknownDataset = () =>
  new NodeFailure('unknown_reference', 'There is no such dataset in this workspace.', final)

export const datasetChanged = (datasetId: string, was: string, is: string | null) =>
  new NodeFailure('dataset_changed', changedFrom(toWire('ds', datasetId), was, is).message, {
    ...final,
    details: { dataset_id: toWire('ds', datasetId), was, is },
  })

export const tooLarge = () =>
  new NodeFailure('dataset_too_large', 'The records are too large for one node. Ask for fewer, or use a job.', final)

export function refused(error: unknown): never {
  if (!(error instanceof RecordsRefused)) throw error
  const { record, message } = error.refusal
  throw new NodeFailure('bad_record', record === undefined ? message : `Record ${record} ${message}.`, final)
}
