import type { OpenFile } from '#engine/files'
import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import * as store from './document-store.ts'
import { KNOWLEDGE_HINTS } from './indexing.ts'
import { type KnowledgeDocument, MAX_TEXT_PART, type NewDocument } from './schema.ts'
import type { ById } from './service.ts'
import { storable } from './text.ts'

export type DocumentParts = {
  findUpload(
    tx: Tx,
    wanted: { workspaceId: string; fileId: string; userId: string },
  ): Promise<Pick<OpenFile, 'name' | 'media_type' | 'bytes'> | undefined>
  findDataset(tx: Tx, workspaceId: string, datasetId: string): Promise<{ name: string } | undefined>
  /** Throws `quota_exceeded` if the plan allows no more documents. */
  checkDocuments(tx: Tx, workspaceId: string): Promise<void>
}

type ByDocument = ById & { document_id: string }

export async function getDocument(ctx: Context, { knowledge_id, document_id }: ByDocument): Promise<KnowledgeDocument> {
  const row = await store.findDocument(ctx.tx, ctx.workspace.workspace_id, knowledge_id, document_id)
  if (!row) throw problem('not_found')
  return row
}

export const listDocuments = (ctx: Context, { knowledge_id, ...asked }: ById & ListInput) =>
  store.listDocuments(ctx.tx, ctx.workspace.workspace_id, knowledge_id, asked)

export async function addDocument(
  parts: DocumentParts,
  ctx: Context,
  input: ById & NewDocument,
): Promise<KnowledgeDocument> {
  const { workspace_id } = ctx.workspace
  const fields = await fieldsOf(parts, ctx, input)
  await parts.checkDocuments(ctx.tx, workspace_id)
  const made = await store.insertDocument(ctx.tx, workspace_id, {
    document_id: newId(),
    knowledge_id: input.knowledge_id,
    content: null,
    bytes: 0,
    url: null,
    depth_left: 0,
    created_by: ctx.person.user_id,
    ...fields,
  })
  ctx.tx.hint(KNOWLEDGE_HINTS, '')
  return made
}

/** Adds a text that a workflow writes, on behalf of its principal. */
export async function addText(
  parts: Pick<DocumentParts, 'checkDocuments'>,
  tx: Tx,
  given: { workspaceId: string; knowledgeId: string; userId: string; name: string | undefined; text: string },
): Promise<KnowledgeDocument> {
  const { workspaceId, knowledgeId, userId, name, text } = given
  await parts.checkDocuments(tx, workspaceId)
  const made = await store.insertDocument(tx, workspaceId, {
    document_id: newId(),
    knowledge_id: knowledgeId,
    url: null,
    depth_left: 0,
    created_by: userId,
    ...textFields(name, text),
  })
  tx.hint(KNOWLEDGE_HINTS, '')
  return made
}

const textFields = (name: string | undefined, text: string) => {
  const content = storable(text)
  return {
    name: name === undefined ? titleOf(content) : storable(name),
    kind: 'text' as const,
    source: {},
    content,
    bytes: Buffer.byteLength(content),
  }
}

type Fields = { name: string; kind: KnowledgeDocument['kind']; source: JsonObject } & Partial<store.NewRow>

async function fieldsOf(parts: DocumentParts, ctx: Context, input: NewDocument): Promise<Fields> {
  const workspaceId = ctx.workspace.workspace_id
  const { name, text, file, dataset, url, crawl } = input
  if (text !== undefined) return textFields(name, text)
  if (file) {
    const fileId = file.$file.file_id
    const found = await parts.findUpload(ctx.tx, { workspaceId, fileId, userId: ctx.person.user_id })
    if (!found) throw unknownReference('/file/$file/file_id')
    const { media_type, bytes } = found
    const source = { file_id: toWire('file', fileId), file_name: found.name, media_type, file_bytes: bytes }
    return { name: name ?? found.name, kind: 'file', source }
  }
  if (dataset) {
    const found = await parts.findDataset(ctx.tx, workspaceId, dataset.dataset_id)
    if (!found) throw unknownReference('/dataset/dataset_id')
    const source: JsonObject = {
      dataset_id: toWire('ds', dataset.dataset_id),
      columns: dataset.columns,
      ...(dataset.title_column !== undefined && { title_column: dataset.title_column }),
    }
    return { name: name ?? found.name, kind: 'dataset', source }
  }
  const source: JsonObject = { url: url!, ...(name !== undefined && { name_given: true }), ...(crawl && { crawl }) }
  return { name: name ?? url!.slice(0, 200), kind: 'url', source, url: url!, depth_left: crawl?.max_depth ?? 0 }
}

const titleOf = (text: string): string => (/^\s*#{0,6}\s*(\S.{0,99})/.exec(text)?.[1] ?? 'Text').trim()

export async function removeDocument(ctx: Context, { knowledge_id, document_id }: ByDocument): Promise<void> {
  const removed = await store.deleteDocument(ctx.tx, ctx.workspace.workspace_id, knowledge_id, document_id)
  if (removed === 0) throw problem('not_found')
}

/** Indexes a document again. Datasets and pages are read again; files and texts are indexed as they are stored. */
export async function reindexDocument(ctx: Context, input: ByDocument): Promise<KnowledgeDocument> {
  const { knowledge_id, document_id } = input
  await store.indexAgain(ctx.tx, ctx.workspace.workspace_id, knowledge_id, { documentId: document_id, fetch: true })
  ctx.tx.hint(KNOWLEDGE_HINTS, '')
  return getDocument(ctx, input)
}

export async function getDocumentText(
  ctx: Context,
  { knowledge_id, document_id, from, to }: ByDocument & { from: number; to?: number | undefined },
) {
  const length = Math.max(0, Math.min((to ?? from + MAX_TEXT_PART) - from, MAX_TEXT_PART))
  const found = await store.findText(ctx.tx, ctx.workspace.workspace_id, knowledge_id, document_id, { from, length })
  if (!found) throw problem('not_found')
  const start = Math.min(from, found.total)
  return { text: found.text, from: start, to: Math.min(start + length, found.total), total: found.total }
}
