import type { Tx } from '#platform/db/pool'

export type FileRow = { file_id: string; name: string; media_type: string; bytes: number; sha256: string }

const COLUMNS = 'file_id, name, media_type, bytes::float8 as bytes, sha256'

/**
 * The row is written before the bytes. A crash between the two leaves a row that is cleaned up, never an unknown blob.
 */
export const insertFile = (
  tx: Tx,
  workspaceId: string,
  file: {
    file_id: string
    name: string
    media_type: string
    created_by: string | null
    sender_id?: string | null
    execution_id: string | null
  },
): Promise<unknown> =>
  tx.rows(
    `with made as (
       insert into files (workspace_id, file_id, name, media_type, created_by, sender_id) values ($1, $2, $3, $4, $5, $7)
       on conflict (workspace_id, file_id) do update set name = excluded.name, media_type = excluded.media_type
       returning workspace_id, file_id
     )
     insert into file_uses (workspace_id, file_id, execution_id)
     select workspace_id, file_id, $6::uuid from made where $6::uuid is not null on conflict do nothing`,
    [workspaceId, file.file_id, file.name, file.media_type, file.created_by, file.execution_id, file.sender_id ?? null],
  )

/** Counts bytes that have arrived. Throws if the quota is used up. A retry may replace a larger file. */
export const countArrived = (tx: Tx, workspaceId: string, fileId: string, bytes: number): Promise<number> =>
  tx.count('update files set bytes = greatest(bytes, $3) where workspace_id = $1 and file_id = $2', [
    workspaceId,
    fileId,
    bytes,
  ])

export const completeFile = (
  tx: Tx,
  workspaceId: string,
  fileId: string,
  { bytes, sha256 }: { bytes: number; sha256: string },
): Promise<FileRow | undefined> =>
  tx.maybe<FileRow>(
    `update files set bytes = $3, sha256 = $4, stored = true where workspace_id = $1 and file_id = $2 returning ${COLUMNS}`,
    [workspaceId, fileId, bytes, sha256],
  )

export const deleteFile = (tx: Tx, workspaceId: string, fileId: string): Promise<number> =>
  tx.count('delete from files where workspace_id = $1 and file_id = $2', [workspaceId, fileId])

export const findFile = (tx: Tx, workspaceId: string, fileId: string): Promise<FileRow | undefined> =>
  tx.maybe<FileRow>(`select ${COLUMNS} from files where workspace_id = $1 and file_id = $2 and stored`, [
    workspaceId,
    fileId,
  ])

/**
 * Returns the file if this execution, an ancestor or a child of it received or created the file, and records that this
 * execution uses it.
 */
export const findFileOfRun = async (
  tx: Tx,
  workspaceId: string,
  fileId: string,
  executionId: string,
): Promise<FileRow | undefined> => {
  const found = await tx.maybe<FileRow>(
    `select ${COLUMNS} from files where workspace_id = $1 and file_id = $2 and stored and file_reaches($1, $2, $3)`,
    [workspaceId, fileId, executionId],
  )
  if (found) await holdFiles(tx, workspaceId, executionId, [fileId])
  return found
}

const holdFiles = (tx: Tx, workspaceId: string, executionId: string, fileIds: string[]): Promise<unknown> =>
  tx.rows(
    `insert into file_uses (workspace_id, file_id, execution_id)
     select workspace_id, file_id, $2 from files where workspace_id = $1 and file_id = any($3) on conflict do nothing`,
    [workspaceId, executionId, fileIds],
  )

/** The uploader: a person, or the sender of a conversation with a person outside. */
export type Giver = { userId: string | null; senderId?: string | null }

/** Records that an execution uses the files that its starter has uploaded. */
export const takeUploads = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  fileIds: string[],
  { userId, senderId = null }: Giver,
): Promise<unknown> =>
  tx.rows(
    `insert into file_uses (workspace_id, file_id, execution_id)
     select workspace_id, file_id, $2 from files where workspace_id = $1 and file_id = any($3)
       and (created_by = $4 or sender_id = $5) and stored
     on conflict do nothing`,
    [workspaceId, executionId, fileIds, userId, senderId],
  )

/** Returns those of the files that this giver has uploaded, in the order of `fileIds`. */
export const findGiven = (
  tx: Tx,
  workspaceId: string,
  fileIds: string[],
  { userId, senderId = null }: Giver,
): Promise<FileRow[]> =>
  tx.rows<FileRow>(
    `select ${COLUMNS} from files where workspace_id = $1 and file_id = any($2) and (created_by = $3 or sender_id = $4) and stored
     order by array_position($2::uuid[], file_id)`,
    [workspaceId, fileIds, userId, senderId],
  )

/** Assigns files that were stored with a channel message before its conversation was known. */
export const adoptFiles = (tx: Tx, workspaceId: string, fileIds: string[], senderId: string): Promise<number> =>
  tx.count(
    `update files set sender_id = $3 where workspace_id = $1 and file_id = any($2) and sender_id is null and created_by is null`,
    [workspaceId, fileIds, senderId],
  )

/** Counts the files of a sender that no execution uses yet. */
export const countUntaken = async (tx: Tx, workspaceId: string, senderId: string): Promise<number> => {
  const row = await tx.maybe<{ count: number }>(
    `select count(*)::int as count from files f where workspace_id = $1 and sender_id = $2 and not exists (
       select from file_uses u where u.workspace_id = f.workspace_id and u.file_id = f.file_id)`,
    [workspaceId, senderId],
  )
  return row?.count ?? 0
}

export type FileOwner = { created_by: string | null; execution_ids: string[] }

/** Returns the uploader and the latest executions that use the file. */
export const findOwner = (tx: Tx, workspaceId: string, fileId: string): Promise<FileOwner | undefined> =>
  tx.maybe<FileOwner>(
    `select created_by, array(select execution_id from file_uses u where u.workspace_id = f.workspace_id and u.file_id = f.file_id
       order by execution_id desc limit 20) as execution_ids
     from files f where workspace_id = $1 and file_id = $2 and stored`,
    [workspaceId, fileId],
  )

export const forgetRemoved = (tx: Tx, workspaceId: string, fileId: string): Promise<number> =>
  tx.count('delete from files_to_remove where workspace_id = $1 and file_id = $2', [workspaceId, fileId])

/** Returns those of the files that an execution may read. */
export const filesOfRun = async (
  tx: Tx,
  workspaceId: string,
  executionId: string,
  fileIds: string[],
): Promise<string[]> => {
  const rows = await tx.rows<{ file_id: string }>(
    `select file_id from files where workspace_id = $1 and file_id = any($3) and stored and file_reaches($1, file_id, $2)`,
    [workspaceId, executionId, fileIds.slice(0, 100)],
  )
  return rows.map(({ file_id }) => file_id)
}

/** Returns a file if this person uploaded it. */
export const findUploadOf = (
  tx: Tx,
  workspaceId: string,
  fileId: string,
  userId: string | null,
): Promise<FileRow | undefined> =>
  tx.maybe<FileRow>(
    `select ${COLUMNS} from files where workspace_id = $1 and file_id = $2 and created_by = $3 and stored`,
    [workspaceId, fileId, userId],
  )
