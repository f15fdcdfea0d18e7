import type { TakeFiles } from '#areas/executions/start'
import { cleanUpFiles, type FileParts, fileNameOf, keepFile, mediaTypeOf } from '#areas/files/keeping'
import { makeDownloadLinks } from '#areas/files/links'
import { fileRoutes } from '#areas/files/routes'
import {
  fileIdFor,
  filesGiven,
  makeAccessLevelInFile,
  makeFiles,
  takeFilesIn,
  takeFilesOf,
  withDownloadLinks,
} from '#areas/files/service'
import { adoptFiles } from '#areas/files/store'
import { uploadAsVisitor } from '#areas/files/transfer'
import type { KeepFile as KeepSent } from '#areas/gateway/inbound'
import type { KeepFile } from '#areas/webhooks/content'
import type { Json } from '#model/definition'
import type { FindAccessLevel } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { newId } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import type { Blobs } from '#providers/blobs/index'
import { MAX_ATTACHMENT_BYTES } from '#providers/channels/index'

export type FilesOptions = {
  config: Config
  db: Database
  vault: Vault
  blobs: Blobs
  baseUrl(): string
  accessLevelInExecution(): FindAccessLevel
}

/** Wires files as values: their routes, their use by nodes, and their removal. */
export function wireFiles({ config, db, vault, blobs, baseUrl, accessLevelInExecution }: FilesOptions) {
  const parts: FileParts = { db, blobs, maxBytes: config.HEDDLE_MAX_FILE_BYTES }
  const links = makeDownloadLinks({ key: vault.derive('file-downloads') })
  const takeFiles: TakeFiles = (of) => takeFilesOf(db, of)
  const keep: KeepFile = (workspaceId, { name, media_type, execution_id }, chunks) =>
    keepFile(
      parts,
      workspaceId,
      {
        file_id: newId(),
        name: fileNameOf(name),
        media_type: mediaTypeOf(media_type),
        created_by: null,
        execution_id,
      },
      chunks,
    )
  const keepSent: KeepSent = (workspaceId, { key, name, media_type, sender_id }, chunks) =>
    keepFile(
      { ...parts, maxBytes: Math.min(parts.maxBytes, MAX_ATTACHMENT_BYTES) },
      workspaceId,
      {
        file_id: key === undefined ? newId() : fileIdFor(workspaceId, key),
        name: fileNameOf(name),
        media_type: mediaTypeOf(media_type),
        created_by: null,
        sender_id,
        execution_id: null,
      },
      chunks,
    )
  return {
    use: makeFiles(parts),
    /** Files that people send in conversations. */
    sent: {
      take: takeFilesIn,
      given: filesGiven,
      adopt: adoptFiles,
      keep: keepSent,
      upload: (ctx: Context, input: { name?: string | undefined; visitorId: string }, exchange: Exchange) =>
        uploadAsVisitor(parts, ctx, input, exchange),
    },
    takeFiles,
    keepFile: keep,
    /** Returns results as people in conversations see them: with a download link instead of each file. */
    shown: (tx: Tx, run: { workspaceId: string; executionId: string }, results: Json): Promise<Json> =>
      withDownloadLinks(
        tx,
        run,
        results,
        (fileId) => baseUrl() + links.sign({ workspaceId: run.workspaceId, fileId }).path,
      ),
    /** Returns results for programs: each file of the execution with its URL. */
    withUrls: (tx: Tx, run: { workspaceId: string; executionId: string }, results: Json): Promise<Json> =>
      withDownloadLinks(
        tx,
        run,
        results,
        (fileId) => baseUrl() + links.sign({ workspaceId: run.workspaceId, fileId }).path,
        ({ $file }, url) => ({ $file: { ...$file, url } }),
      ),
    routes: fileRoutes({ ...parts, links, baseUrl }),
    accessLevels: { file: makeAccessLevelInFile(accessLevelInExecution) },
    tasks: { 'files that no run holds': () => cleanUpFiles(parts) },
  }
}
