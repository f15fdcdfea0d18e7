import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import * as store from './store.ts'

/** Some records in order, as canonical JSON. The texts can be hashed or parsed. */
export type RecordPage = { first: number; texts: string[] }

export const parseRecord = (text: string): JsonObject => JSON.parse(text) as JsonObject

const changed = () =>
  problem('dataset_changed', 'The dataset was replaced or deleted while it was read. Read it again from the start.')

/** Runs outside the main thread: 1 MiB takes about 2 ms. */
const unpack = promisify(zstdDecompress)

/**
 * Reads the bytes of a version chunk by chunk, each in one short transaction, so that a slow reader holds no
 * connection.
 */
export async function* readChunks(
  db: Database,
  workspaceId: string,
  versionId: string,
  range: { from: number; to: number },
): AsyncGenerator<{ first: number; count: number; text: Buffer }> {
  const scope = { workspaceId, userId: null }
  for (let at = range.from; at < range.to; ) {
    const record = at
    const chunk = await db.tenant(scope, (tx) => store.findChunk(tx, workspaceId, versionId, record))
    if (chunk === undefined) throw changed()
    yield { first: chunk.first_record, count: chunk.record_count, text: await unpack(chunk.body) }
    at = chunk.first_record + chunk.record_count
  }
}

export async function* readVersion(
  db: Database,
  workspaceId: string,
  versionId: string,
  range: { from: number; to: number },
): AsyncGenerator<RecordPage> {
  for await (const { first, text } of readChunks(db, workspaceId, versionId, range)) {
    const lines = text.toString().split('\n')
    const from = Math.max(range.from, first)
    yield { first: from, texts: lines.slice(from - first, range.to - first) }
  }
}

/**
 * Reads the records of a dataset as they are now, in pages of about 1 MiB. A replacement during the read is not
 * visible: the pages continue with the version with which they started, or end with `dataset_changed`.
 */
export async function* readRecords(
  db: Database,
  workspaceId: string,
  datasetId: string,
  options: { after?: number; limit?: number; sha256?: string } = {},
): AsyncGenerator<RecordPage> {
  const dataset = await db.tenant({ workspaceId, userId: null }, (tx) =>
    store.findDatasetVersion(tx, workspaceId, datasetId),
  )
  if (dataset === undefined) throw problem('dataset_unbound', 'The dataset was deleted. Bind another one.')
  if (options.sha256 !== undefined && options.sha256 !== dataset.sha256)
    throw changedFrom(datasetId, options.sha256, dataset.sha256)
  const from = options.after ?? 0
  const to = Math.min(dataset.record_count, from + (options.limit ?? dataset.record_count))
  yield* readVersion(db, workspaceId, dataset.version_id, { from, to })
}

/** Contains both fingerprints, so that the reader can tell which version was meant. */
export const changedFrom = (name: string, was: string, is: string | null) =>
  problem(
    'dataset_changed',
    is === null
      ? `The dataset ${name} with the fingerprint ${was} was deleted.`
      : `The dataset ${name} had the fingerprint ${was} and now has ${is}. Start again with the current records.`,
  )
