import { createHash } from 'node:crypto'
import { type FileValue, unavailable } from '#engine/files'
import { NodeFailure } from '#engine/node'
import { toStorableText } from '#model/storable'
import type { Database } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import * as store from './store.ts'

export type FileParts = { db: Database; blobs: Blobs; maxBytes: number }

/** The key of a file's blob. It consists of ids only, so no input of a sender becomes part of a path. */
export const keyOf = (workspaceId: string, fileId: string): string => `files/${workspaceId}/${fileId}`

export type NewFile = {
  file_id: string
  name: string
  media_type: string
  created_by: string | null
  /** The visitor who sent the file, or the conversation of the channel that delivered it. */
  sender_id?: string | null
  /** The execution that receives or creates the file, if it is known. */
  execution_id: string | null
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,80}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,80}$/

export const mediaTypeOf = (text: string | undefined): string => {
  const type = (text ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream'
}

/** Returns the last part of a path, without characters that have a meaning in a file system or a header. */
export function fileNameOf(text: string | undefined, fallback = 'file'): string {
  const last = (text ?? '').split(/[\\/]/).at(-1) ?? ''
  const name = toStorableText(last.replace(/[\p{Cc}\p{Cf}"<>|:*?]/gu, '').trim(), 200)
  return name === '' || name === '.' || name === '..' ? fallback : name
}

class TooLarge extends Error {}

/** The bytes after which the size of a file that is still arriving is counted. */
const COUNT_EVERY = 4 << 20

/**
 * Stores a file chunk by chunk. An upload that is interrupted, too large or over the plan's quota leaves nothing
 * behind. The bytes count towards the quota while they arrive: otherwise uploads at the same time, each within the
 * quota, could fill the disk.
 */
export async function keepFile(
  { db, blobs, maxBytes }: FileParts,
  workspaceId: string,
  file: NewFile,
  chunks: AsyncIterable<Buffer>,
): Promise<FileValue> {
  const scope = { workspaceId, userId: null }
  const hash = createHash('sha256')
  let bytes = 0
  let countAt = COUNT_EVERY
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new TooLarge()
      if (bytes >= countAt) {
        countAt = bytes + COUNT_EVERY
        await db.tenant(scope, (tx) => store.countArrived(tx, workspaceId, file.file_id, bytes))
      }
      hash.update(chunk)
      yield chunk
    }
  }
  await db.tenant(scope, (tx) => store.insertFile(tx, workspaceId, file))
  try {
    await blobs.putStream(keyOf(workspaceId, file.file_id), counted())
    const facts = { bytes, sha256: hash.digest('hex') }
    const row = await db.tenant(scope, (tx) => store.completeFile(tx, workspaceId, file.file_id, facts))
    if (!row) throw problem('not_found')
    return fileValueOf(row)
  } catch (error) {
    // Deleting the row also deletes the blob. If the deletion fails, both are cleaned up a day later.
    await db.tenant(scope, (tx) => store.deleteFile(tx, workspaceId, file.file_id)).catch(() => undefined)
    if (error instanceof TooLarge) throw problem('too_large', `A file may have at most ${maxBytes} bytes.`)
    throw error
  }
}

export const fileValueOf = (row: store.FileRow): FileValue => ({
  $file: { ...row, file_id: toWire('file', row.file_id) },
})

/** Converts an error into the failure of a node. */
export function asNodeFailure(error: unknown): unknown {
  if (isProblem(error, 'too_large')) return new NodeFailure('file_too_large', error.message, { retryable: false })
  if (isProblem(error, 'quota_exceeded')) return new NodeFailure('quota_exceeded', error.message, { retryable: false })
  return isProblem(error, 'not_found') ? unavailable() : error
}

/** Deletes files that no execution uses, and the blobs of deleted files. */
export async function cleanUpFiles({ db, blobs }: FileParts, atOnce = 500): Promise<void> {
  for (let found = atOnce; found === atOnce; ) {
    const { rows } = await db.appPool.query<{ workspace_id: string; file_id: string }>(
      'select * from files_left_over($1)',
      [atOnce],
    )
    for (const { workspace_id, file_id } of rows) {
      await blobs.remove(keyOf(workspace_id, file_id))
      await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
        store.forgetRemoved(tx, workspace_id, file_id),
      )
    }
    found = rows.length
  }
}
