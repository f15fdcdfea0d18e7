import { createHash } from 'node:crypto'
import { type Files, type FileValue, filesIn, isFileValue, unavailable } from '#engine/files'
import type { Json } from '#model/definition'
import type { FindAccessLevel } from '#platform/access/check'
import type { Database, Tx } from '#platform/db/pool'
import { unknownReference } from '#platform/errors'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import { asNodeFailure, type FileParts, fileNameOf, fileValueOf, keepFile, keyOf, mediaTypeOf } from './keeping.ts'
import * as store from './store.ts'

/** A person may read a file if the person uploaded it or may read an execution that received or created it. */
export const makeAccessLevelInFile =
  (accessLevelInExecution: () => FindAccessLevel): FindAccessLevel =>
  async (ctx, fileId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const found = await store.findOwner(ctx.tx, ctx.workspace.workspace_id, fileId)
    if (!found) return undefined
    if (found.created_by !== null && found.created_by === ctx.maybePerson?.user_id) return 'owner'
    for (const executionId of found.execution_ids) {
      const standing = await accessLevelInExecution()(ctx, executionId)
      if (standing !== undefined && standing !== 'visible') return 'viewer'
    }
    return undefined
  }

/** Returns the same id for the same key, so that a retry replaces the file of the previous attempt. */
export const fileIdFor = (workspaceId: string, key: string): string => {
  const digest = createHash('sha256').update(`${workspaceId}\n${key}`).digest('hex')
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

async function* bytesOf(blobs: Blobs, key: string): AsyncGenerator<Buffer> {
  const stream = await blobs.stream(key)
  if (!stream) throw unavailable()
  for await (const chunk of stream) yield chunk as Buffer
}

/** The file operations of nodes. */
export function makeFiles(parts: FileParts): Files {
  const { db, blobs } = parts
  return {
    maxBytes: parts.maxBytes,

    async open({ workspaceId, executionId }, value) {
      const fileId = isFileValue(value) ? fromWire('file', value.$file.file_id) : undefined
      if (fileId === undefined) throw unavailable()
      const row = await db.tenant({ workspaceId, userId: null }, (tx) =>
        store.findFileOfRun(tx, workspaceId, fileId, executionId),
      )
      if (!row) throw unavailable()
      return { ...row, chunks: () => bytesOf(blobs, keyOf(workspaceId, fileId)) }
    },

    async save({ workspaceId, executionId }, { key, name, media_type }, chunks) {
      const file = {
        file_id: fileIdFor(workspaceId, key),
        name: fileNameOf(name),
        media_type: mediaTypeOf(media_type),
        created_by: null,
        execution_id: executionId,
      }
      return keepFile(parts, workspaceId, file, chunks).catch((error: unknown) => {
        throw asNodeFailure(error)
      })
    },
  }
}

const idsIn = (input: Json): string[] => [
  ...new Set(
    [...filesIn(input)].flatMap(({ $file }) => {
      const fileId = fromWire('file', $file.file_id)
      return fileId === undefined ? [] : [fileId]
    }),
  ),
]

/** Records that an execution uses the files that its input names and that the starting person uploaded. */
export async function takeFilesOf(
  db: Database,
  {
    workspaceId,
    executionId,
    input,
    userId,
  }: { workspaceId: string; executionId: string; input: Json; userId: string },
): Promise<void> {
  const ids = idsIn(input)
  if (ids.length === 0) return
  await db.tenant({ workspaceId, userId: null }, (tx) =>
    store.takeUploads(tx, workspaceId, executionId, ids, { userId }),
  )
}

/** As above, in the transaction that starts the execution, for a conversation. */
export async function takeFilesIn(
  tx: Tx,
  {
    workspaceId,
    executionId,
    input,
    giver,
  }: { workspaceId: string; executionId: string; input: Json; giver: store.Giver },
): Promise<void> {
  const ids = idsIn(input)
  if (ids.length > 0) await store.takeUploads(tx, workspaceId, executionId, ids, giver)
}

/** Returns the files that a message names. Throws `unknown_reference` for a file that the sender has not uploaded. */
export async function filesGiven(
  tx: Tx,
  workspaceId: string,
  wireIds: string[],
  giver: store.Giver,
): Promise<FileValue[]> {
  const ids = wireIds.map((wireId) => fromWire('file', wireId) ?? UNKNOWN_ID)
  if (ids.length === 0) return []
  const rows = await store.findGiven(tx, workspaceId, ids, giver)
  const missing = ids.findIndex((fileId) => !rows.some(({ file_id }) => file_id === fileId))
  if (missing !== -1) throw unknownReference(`/files/${missing}`)
  return rows.map(fileValueOf)
}

/**
 * Returns a result for display: each file of the execution becomes its name and download address. A value that only
 * looks like a file, because a user wrote its id, gets no address.
 */
export async function withDownloadLinks(
  tx: Tx,
  { workspaceId, executionId }: { workspaceId: string; executionId: string },
  results: Json,
  addressOf: (fileId: string) => string,
  show: (file: FileValue, url: string) => Json = ({ $file }, url) => `${$file.name}: ${url}`,
): Promise<Json> {
  const ids = idsIn(results)
  if (ids.length === 0) return results
  const own = new Set(await store.filesOfRun(tx, workspaceId, executionId, ids))
  const shown = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value
    if (isFileValue(value)) {
      const fileId = fromWire('file', value.$file.file_id)
      return fileId === undefined || !own.has(fileId) ? value : show(value, addressOf(fileId))
    }
    if (Array.isArray(value)) return value.map(shown)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown(item)]))
  }
  return shown(results)
}
