import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { readChunks } from './reading.ts'
import { canonicalRecord } from './records/canonical.ts'
import { type Chunk, makePacker, type Packed } from './records/packer.ts'
import { makeProfiler, type Profile } from './records/profile.ts'
import { located, RecordsRefused } from './records/refused.ts'
import * as store from './store.ts'

/**
 * Records that are being stored. They are not visible until `publish` runs in the transaction that points a dataset
 * at them.
 */
export type Draft = {
  versionId: string
  store(chunk: Chunk): Promise<void>
  publish(tx: Tx): Promise<void>
  /** Deletes the stored records. Has no effect after `publish`. */
  discard(): Promise<void>
}

const stalled = () =>
  problem('unavailable', 'No data arrived for too long, so the upload was cancelled. Send it again.')

async function startDraft(db: Database, workspaceId: string): Promise<Draft> {
  const scope = { workspaceId, userId: null }
  const versionId = newId()
  await db.tenant(scope, (tx) => store.insertVersion(tx, workspaceId, versionId))
  return {
    versionId,
    async store(chunk) {
      if ((await db.tenant(scope, (tx) => store.insertChunk(tx, workspaceId, versionId, chunk))) === 0) throw stalled()
    },
    async publish(tx) {
      if ((await store.publishVersion(tx, workspaceId, versionId)) === 0) throw stalled()
    },
    // Anything left behind by a failure here is swept within an hour.
    discard: () =>
      db
        .tenant(scope, (tx) => store.deletePending(tx, workspaceId, versionId))
        .then(
          () => {},
          () => {},
        ),
  }
}

/** Runs work with a draft. The work publishes the draft, or all its records are deleted. */
export async function withDraft<T>(db: Database, workspaceId: string, work: (draft: Draft) => Promise<T>): Promise<T> {
  const draft = await startDraft(db, workspaceId)
  try {
    return await work(draft)
  } catch (error) {
    await draft.discard()
    throw error
  }
}

export type Records = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>

/** The maximum time in milliseconds that work blocks the main thread before other requests run. */
const TURN_MS = 8

/**
 * Called for a record that cannot be stored, with its position. Returns the record to store instead, or undefined to
 * skip it.
 */
export type Instead = (at: number, record: unknown, reason: string) => Record<string, unknown> | undefined

/** Checks, fingerprints and stores parsed records, page by page. */
export async function packRecords(
  pages: Records,
  draft: Pick<Draft, 'store'>,
  {
    kept,
    instead,
  }: { kept?: { pointed: store.DatasetVersion; db: Database } | undefined; instead?: Instead | undefined } = {},
): Promise<{ packed: Packed; profile: Profile }> {
  const ready: Chunk[] = []
  const before = kept && (await countChunks(kept.db, kept.pointed))
  const packer = makePacker((chunk) => ready.push(chunk), before)
  const profiler = makeProfiler(
    kept && {
      profile: { columns: kept.pointed.columns as Profile['columns'], complete: kept.pointed.columns_complete },
      record_count: kept.pointed.record_count,
    },
  )
  if (kept) {
    const { workspace_id, version_id, record_count } = kept.pointed
    const all = { from: 0, to: record_count }
    for await (const { text } of readChunks(kept.db, workspace_id, version_id, all)) packer.keep(commas(text))
  }
  let turn = performance.now()
  let given = -1
  for await (const page of pages) {
    for (const one of page) {
      given += 1
      const { text, record } = located({ record: packer.count() }, () => storable(one, given, instead))
      if (text === null) continue
      packer.add(text)
      profiler.add(record as Record<string, unknown>)
      if (ready.length > 0) await draft.store(ready.shift()!)
      if (performance.now() - turn > TURN_MS) {
        await nextTurn()
        turn = performance.now()
      }
    }
  }
  const packed = packer.finish()
  for (const chunk of ready) await draft.store(chunk)
  return { packed, profile: profiler.finish(packed.record_count) }
}

function storable(record: unknown, at: number, instead?: Instead): { text: string | null; record: unknown } {
  try {
    return { text: canonicalRecord(record).text, record }
  } catch (error) {
    if (instead === undefined || !(error instanceof RecordsRefused)) throw error
    const other = instead(at, record, error.message)
    return other === undefined ? { text: null, record } : storable(other, at, () => undefined)
  }
}

async function countChunks(db: Database, { workspace_id, version_id, record_count }: store.DatasetVersion) {
  if (record_count === 0) return { chunks: 0, record_count }
  const last = await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
    store.findChunk(tx, workspace_id, version_id, record_count - 1),
  )
  return { chunks: (last?.n ?? -1) + 1, record_count }
}

/** Replaces line breaks by commas. Canonical JSON contains no line breaks, so each line break ends a record. */
export function commas(lines: Buffer): Buffer {
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) lines[at] = 0x2c
  return lines
}
