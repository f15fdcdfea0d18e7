import type { OpenFile } from '#engine/files'
import type { Database, Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import { keyOf } from './keeping.ts'
import * as store from './store.ts'

// Files that a person uploaded, for areas that read them on behalf of this person. No execution is needed.

type Wanted = { workspaceId: string; fileId: string; userId: string | null }

export const findUpload = (tx: Tx, { workspaceId, fileId, userId }: Wanted): Promise<store.FileRow | undefined> =>
  store.findUploadOf(tx, workspaceId, fileId, userId)

export const openUpload = async (
  { db, blobs }: { db: Database; blobs: Blobs },
  wanted: Wanted,
): Promise<OpenFile | undefined> => {
  const { workspaceId, fileId } = wanted
  const row = await db.tenant({ workspaceId, userId: null }, (tx) => findUpload(tx, wanted))
  if (!row) return undefined
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of (await blobs.stream(keyOf(workspaceId, fileId))) ?? []) yield chunk as Buffer
  }
  return { ...row, file_id: toWire('file', row.file_id), chunks }
}
