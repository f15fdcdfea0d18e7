import type { TakeFiles } from '#areas/executions/start'
import { cleanUpFiles, type FileParts, fileNameOf, keepFile, mediaTypeOf } from '#areas/files/keeping'
import { makeDownloadLinks } from '#areas/files/links'
import { fileRoutes } from '#areas/files/routes'
import { makeFiles, makeStandingInFile, takeFilesOf, withDownloadLinks } from '#areas/files/service'
import type { KeepFile } from '#areas/webhooks/content'
import type { Json } from '#model/definition'
import type { StandingIn } from '#platform/access/check'
import type { Config } from '#platform/config'
import type { Database, Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import type { Blobs } from '#providers/blobs/index'

export type FilesOptions = {
  config: Config
  db: Database
  vault: Vault
  blobs: Blobs
  baseUrl(): string
  standingInExecution(): StandingIn
}

/** Files as values: their doors, what nodes do with them, and what removes them. */
export function wireFiles({ config, db, vault, blobs, baseUrl, standingInExecution }: FilesOptions) {
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
  return {
    use: makeFiles(parts),
    takeFiles,
    keepFile: keep,
    /** What people in conversations are shown of results: an address in place of each file. */
    shown: (tx: Tx, run: { workspaceId: string; executionId: string }, results: Json): Promise<Json> =>
      withDownloadLinks(
        tx,
        run,
        results,
        (fileId) => baseUrl() + links.sign({ workspaceId: run.workspaceId, fileId }).path,
      ),
    routes: fileRoutes({ ...parts, links, baseUrl }),
    standings: { file: makeStandingInFile(standingInExecution) },
    tasks: { 'files that no run holds': () => cleanUpFiles(parts) },
  }
}
