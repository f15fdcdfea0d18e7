import { NodeFailure } from '#engine/node'
import type { ReadDataset } from '#engine/nodes/dataset-read'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { datasetChanged, final, tooLarge, unknownDataset } from './failures.ts'
import { changedFrom, parseRecord, readRecords, readVersion } from './reading.ts'
import * as store from './store.ts'
import { makeTurns } from './turns.ts'
import { createDatasetFrom, type Deps, replaceRecordsOf, within, writeDataset } from './use-writing.ts'
import { packRecords, type Records, withDraft } from './writing.ts'

// The functions with which executions, jobs and suites use datasets. The HTTP API is in service.ts.

/** The maximum size of the records that one node may read. */
const MAX_READ_BYTES = 8 << 20

/**
 * Stores records outside of any dataset, for a caller that keeps the id of the version. `releaseVersion` deletes
 * them.
 */
export const captureVersion = (deps: Deps, workspaceId: string, records: Records) =>
  withDraft(deps.db, workspaceId, async (draft) => {
    const { packed, profile } = await packRecords(records, draft)
    await within(deps, workspaceId, (tx) => draft.publish(tx))
    const columns = profile.columns.map(({ name }) => name)
    return { version_id: draft.versionId, sha256: packed.sha256, record_count: packed.record_count, columns }
  })

/**
 * Checks whether a dataset that this execution read has changed since, before a gate is resolved or a record is
 * claimed.
 */
export async function changedDatasets(
  tx: Tx,
  workspaceId: string,
  executionId: string,
): Promise<{ message: string; details: Json } | null> {
  const [moved] = await store.findMoved(tx, workspaceId, executionId)
  if (moved === undefined) return null
  const dataset_id = toWire('ds', moved.dataset_id)
  const { message } = changedFrom(dataset_id, moved.pinned, moved.present)
  return { message, details: { dataset_id, was: moved.pinned, is: moved.present } }
}

export const forgetExecution = (deps: Deps, workspaceId: string, executionId: string): Promise<number> =>
  within(deps, workspaceId, (tx) => store.deletePins(tx, workspaceId, executionId))

export async function readDataset(deps: Deps, asked: Parameters<ReadDataset>[0]): ReturnType<ReadDataset> {
  const { workspaceId, executionId, datasetId, where, limit, signal } = asked
  const dataset = await within(deps, workspaceId, async (tx) => {
    const found = await store.findDatasetVersion(tx, workspaceId, datasetId)
    if (!found) {
      const moved = (await store.findMoved(tx, workspaceId, executionId)).find((one) => one.dataset_id === datasetId)
      throw moved ? datasetChanged(datasetId, moved.pinned, null) : unknownDataset()
    }
    const pinned = await store.pinFingerprint(tx, workspaceId, executionId, datasetId, found.sha256)
    if (pinned !== found.sha256) throw datasetChanged(datasetId, pinned, found.sha256)
    return found
  })
  const wanted = Object.entries(where).map(([field, value]) => [field, canonicalText(value)] as const)
  const records: JsonObject[] = []
  let bytes = 0
  const all = { from: 0, to: wanted.length === 0 ? Math.min(limit, dataset.record_count) : dataset.record_count }
  try {
    for await (const { texts } of readVersion(deps.db, workspaceId, dataset.version_id, all)) {
      signal.throwIfAborted()
      for (const text of texts) {
        const record = parseRecord(text)
        if (!wanted.every(([field, value]) => Object.hasOwn(record, field) && canonicalText(record[field]!) === value))
          continue
        bytes += text.length
        if (bytes > MAX_READ_BYTES) throw tooLarge()
        records.push(record)
        if (records.length === limit) return { records, sha256: dataset.sha256 }
      }
    }
  } catch (error) {
    throw isProblem(error, 'dataset_changed') ? new NodeFailure('dataset_changed', error.message, final) : error
  }
  return { records, sha256: dataset.sha256 }
}

const verbsOfUse = {
  captureVersion,
  createDatasetFrom,
  replaceRecordsOf,
  forgetExecution,
  readDataset,
  writeDataset,
}

const verbsOfReading = { readVersion, readRecords }

export function makeDatasetUse({ db }: { db: Database }) {
  return {
    ...bindVerbs<Deps, typeof verbsOfUse>({ db, inTurn: makeTurns() }, verbsOfUse),
    ...bindVerbs<Database, typeof verbsOfReading>(db, verbsOfReading),
    changedDatasets,
    /** Returns the current fingerprint. Undefined if the workspace has no such dataset. */
    fingerprintOf: store.findFingerprint,
    findDataset: store.findDataset,
    /** Includes the version to which the dataset points. A version never changes. */
    findPointed: store.findDatasetVersion,
    releaseVersion: store.retireVersion,
  }
}

export type DatasetUse = ReturnType<typeof makeDatasetUse>
