import type { JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { invalid } from '#platform/errors'
import { decodeCursor } from '#platform/http/page'
import { toWire } from '#platform/ids'
import { changedFrom, parseRecord, readVersion } from './reading.ts'
import type * as store from './store.ts'

/** The maximum size of a page. A larger page is cut short. */
const MAX_PAGE_BYTES = 4 << 20

export async function readPage(
  db: Database,
  dataset: store.DatasetVersion,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<{ items: JsonObject[]; next_cursor: string | null }> {
  const from = positionOf(cursor, dataset)
  const to = Math.min(from + limit, dataset.record_count)
  const items: JsonObject[] = []
  let bytes = 0
  pages: for await (const { texts } of readVersion(db, dataset.workspace_id, dataset.version_id, { from, to })) {
    for (const text of texts) {
      if (items.length > 0 && bytes + text.length > MAX_PAGE_BYTES) break pages
      items.push(parseRecord(text))
      bytes += text.length
    }
  }
  const next = from + items.length
  return { items, next_cursor: next < dataset.record_count ? cursorAt(dataset, next) : null }
}

/** A cursor is bound to one fingerprint, so that pages of different records are never combined. */
const cursorAt = (dataset: store.DatasetVersion, at: number): string =>
  Buffer.from(JSON.stringify([dataset.sha256, at])).toString('base64url')

function positionOf(cursor: string | undefined, dataset: store.DatasetVersion): number {
  const key = decodeCursor(cursor, 2)
  if (key === undefined) return 0
  const [sha256, at] = key
  if (typeof sha256 !== 'string' || typeof at !== 'number' || !Number.isInteger(at) || at < 0)
    throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
  if (sha256 !== dataset.sha256) throw changedFrom(toWire('ds', dataset.dataset_id), sha256, dataset.sha256)
  return Math.min(at, dataset.record_count)
}
