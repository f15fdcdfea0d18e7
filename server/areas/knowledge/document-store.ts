import type { JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { Embedding } from './embeddings.ts'
import { type documentKinds, documentList, type KnowledgeDocument, type Language } from './schema.ts'

type Kind = (typeof documentKinds)[number]

const columns = `d.document_id, d.knowledge_id, d.name, d.kind, d.source, d.root_id, d.status, d.error, d.bytes::float8 as bytes,
  d.chunk_count, d.created_by, d.created_at, d.updated_at`

export type NewRow = {
  document_id: string
  knowledge_id: string
  name: string
  kind: Kind
  source: JsonObject
  content: string | null
  bytes: number
  url: string | null
  depth_left: number
  created_by: string | null
}

export const insertDocument = (tx: Tx, workspaceId: string, row: NewRow): Promise<KnowledgeDocument> =>
  tx.row<KnowledgeDocument>(
    `insert into knowledge_documents as d (workspace_id, knowledge_id, document_id, name, kind, source, content, bytes, url,
       depth_left, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    [
      workspaceId,
      row.knowledge_id,
      row.document_id,
      row.name,
      row.kind,
      row.source,
      row.content,
      row.bytes,
      row.url,
      row.depth_left,
      row.created_by,
    ],
  )

export const findDocument = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  documentId: string,
): Promise<KnowledgeDocument | undefined> =>
  tx.maybe<KnowledgeDocument>(
    `select ${columns} from knowledge_documents d where d.workspace_id = $1 and d.knowledge_id = $2 and d.document_id = $3`,
    [workspaceId, knowledgeId, documentId],
  )

export const listDocuments = (tx: Tx, workspaceId: string, knowledgeId: string, asked: ListInput) =>
  readList<KnowledgeDocument>(tx, documentList, asked, {
    sql: `select ${columns} from knowledge_documents d where d.workspace_id = $1 and d.knowledge_id = $2`,
    values: [workspaceId, knowledgeId],
  })

export const deleteDocument = (tx: Tx, workspaceId: string, knowledgeId: string, documentId: string): Promise<number> =>
  tx.count('delete from knowledge_documents where workspace_id = $1 and knowledge_id = $2 and document_id = $3', [
    workspaceId,
    knowledgeId,
    documentId,
  ])

export const findText = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  documentId: string,
  { from, length }: { from: number; length: number },
): Promise<{ text: string; total: number } | undefined> =>
  tx.maybe<{ text: string; total: number }>(
    `select coalesce(substr(content, $4::int + 1, $5::int), '') as text, coalesce(length(content), 0) as total
     from knowledge_documents where workspace_id = $1 and knowledge_id = $2 and document_id = $3`,
    [workspaceId, knowledgeId, documentId, from, length],
  )

/**
 * Marks documents to be indexed again. The existing passages are searched until then. With `fetch`, datasets and pages
 * are also read again.
 */
export const indexAgain = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  { documentId, fetch }: { documentId: string | null; fetch: boolean },
): Promise<number> =>
  tx.count(
    `update knowledge_documents set status = 'pending', revision = revision + 1, attempts = 0, due_at = now(), error = null,
       updated_at = now(), content = case when $4 and kind in ('dataset', 'url') then null else content end
     where workspace_id = $1 and knowledge_id = $2 and ($3::uuid is null or document_id = $3)`,
    [workspaceId, knowledgeId, documentId, fetch],
  )

// The functions below are for the background process, which works on a claimed document.

export type Claimed = { workspace_id: string; knowledge_id: string; document_id: string }

export const claimDocument = async (
  db: Database,
  { after, busy, leaseS }: { after: string; busy: string[]; leaseS: number },
): Promise<Claimed | undefined> =>
  (
    await db.appPool.query<Claimed>({
      name: 'claim_knowledge_document',
      text: 'select workspace_id, knowledge_id, document_id from claim_knowledge_document($1, $2, $3)',
      values: [after, busy, leaseS],
    })
  ).rows[0]

export type WorkRow = {
  document_id: string
  knowledge_id: string
  name: string
  kind: Kind
  source: JsonObject
  root_id: string | null
  url: string | null
  depth_left: number
  content: string | null
  revision: number
  attempts: number
  created_by: string | null
  language: Language
  owner_id: string | null
} & Embedding

export const findWork = (tx: Tx, { workspace_id, document_id }: Claimed): Promise<WorkRow | undefined> =>
  tx.maybe<WorkRow>(
    `select d.document_id, d.knowledge_id, d.name, d.kind, d.source, d.root_id, d.url, d.depth_left, d.content, d.revision, d.attempts,
       d.created_by, b.language, b.owner_id, b.embedding_credential_id, b.embedding_installation, b.embedding_model
     from knowledge_documents d join knowledge_bases b on b.workspace_id = d.workspace_id and b.knowledge_id = d.knowledge_id
     where d.workspace_id = $1 and d.document_id = $2 and d.status = 'indexing'`,
    [workspace_id, document_id],
  )

/** Returns false if the document was deleted or must be indexed again. The process then stops working on it. */
export const renewLease = async (tx: Tx, at: Claimed, revision: number, leaseS: number): Promise<boolean> =>
  (await tx.count(
    `update knowledge_documents set due_at = now() + make_interval(secs => $4)
     where workspace_id = $1 and document_id = $2 and revision = $3 and status = 'indexing'`,
    [at.workspace_id, at.document_id, revision, leaseS],
  )) > 0

export const saveContent = async (
  tx: Tx,
  at: Claimed,
  revision: number,
  { name, content, bytes, url }: { name: string; content: string; bytes: number; url: string | null },
): Promise<boolean> =>
  (await tx.count(
    `update knowledge_documents set name = $4, content = $5, bytes = $6, url = coalesce($7, url), updated_at = now()
     where workspace_id = $1 and document_id = $2 and revision = $3 and status = 'indexing'`,
    [at.workspace_id, at.document_id, revision, name, content, bytes, url],
  )) > 0

export type ChunkRow = {
  position: number
  from: number
  to: number
  heading: string[]
  body: string
  /** The words of the passage's own heading. */
  heading_words: string
  /** The words above that heading: the name of the document and the other headings. */
  above_words: string
  body_words: string
  embedding: string | null
  bits: string | null
}

export const insertChunks = (
  tx: Tx,
  at: Claimed,
  { revision, language }: { revision: number; language: Language },
  chunks: ChunkRow[],
): Promise<number> =>
  tx.count(
    `insert into knowledge_chunks (workspace_id, knowledge_id, document_id, revision, position, from_offset, to_offset, heading, body,
       words, embedding, embedding_bits)
     select $1, $2, $3, $4, c.position, c.from, c.to, array(select jsonb_array_elements_text(c.heading)), c.body,
       setweight(to_tsvector($5::regconfig, c.heading_words), 'A') || setweight(to_tsvector($5::regconfig, c.above_words), 'B')
         || setweight(to_tsvector($5::regconfig, c.body_words), 'D')
         || array_to_tsvector(array['kb:' || $2::uuid::text]),
       decode(c.embedding, 'base64'), c.bits::bit varying
     from jsonb_to_recordset($6::jsonb) as c ("position" integer, "from" integer, "to" integer, heading jsonb, body text,
       heading_words text, above_words text, body_words text, embedding text, bits text)
     on conflict do nothing`,
    [at.workspace_id, at.knowledge_id, at.document_id, revision, language, JSON.stringify(chunks)],
  )

/** Counts the passages of this revision that already exist after a crash. */
export const countChunks = async (tx: Tx, at: Claimed, revision: number): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      'select count(*)::int as count from knowledge_chunks where workspace_id = $1 and document_id = $2 and revision = $3',
      [at.workspace_id, at.document_id, revision],
    )
  ).count

export const countInBase = async (tx: Tx, at: Claimed): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      `select coalesce(sum(chunk_count), 0)::int as count from knowledge_documents
       where workspace_id = $1 and knowledge_id = $2 and document_id <> $3`,
      [at.workspace_id, at.knowledge_id, at.document_id],
    )
  ).count

/** Makes the new passages searchable, and deletes the old ones. */
export async function finishDocument(
  tx: Tx,
  at: Claimed,
  { revision, chunkCount, error }: { revision: number; chunkCount: number; error: JsonObject | null },
): Promise<void> {
  const moved = await tx.count(
    `update knowledge_documents set status = 'ready', ready_revision = revision, chunk_count = $4, error = $5, updated_at = now()
     where workspace_id = $1 and document_id = $2 and revision = $3 and status = 'indexing'`,
    [at.workspace_id, at.document_id, revision, chunkCount, error],
  )
  if (moved > 0)
    await tx.count('delete from knowledge_chunks where workspace_id = $1 and document_id = $2 and revision < $3', [
      at.workspace_id,
      at.document_id,
      revision,
    ])
}

export const failDocument = (
  tx: Tx,
  at: Claimed,
  { revision, error, againInS }: { revision: number; error: JsonObject; againInS: number | null },
): Promise<number> =>
  tx.count(
    `update knowledge_documents set status = case when $5::int is null then 'failed' else 'pending' end, error = $4,
       due_at = now() + make_interval(secs => coalesce($5::int, 0)), updated_at = now()
     where workspace_id = $1 and document_id = $2 and revision = $3 and status = 'indexing'`,
    [at.workspace_id, at.document_id, revision, error, againInS],
  )

export const lockRoot = (
  tx: Tx,
  workspaceId: string,
  rootId: string,
): Promise<{ source: JsonObject; pages: number } | undefined> =>
  tx.maybe<{ source: JsonObject; pages: number }>(
    `select d.source, (select count(*)::int + 1 from knowledge_documents p
       where p.workspace_id = d.workspace_id and p.root_id = d.document_id) as pages
     from knowledge_documents d where d.workspace_id = $1 and d.document_id = $2 for no key update`,
    [workspaceId, rootId],
  )

/** Inserts pages that the crawl has not seen, and returns how many were new. */
export const insertPages = (
  tx: Tx,
  at: Claimed,
  { rootId, depthLeft, createdBy }: { rootId: string; depthLeft: number; createdBy: string | null },
  pages: { document_id: string; url: string }[],
): Promise<number> =>
  tx.count(
    `insert into knowledge_documents (workspace_id, knowledge_id, document_id, name, kind, source, root_id, url, depth_left, created_by)
     select $1, $2, p.document_id, left(p.url, 200), 'url', jsonb_build_object('url', p.url), $3, p.url, $4, $5
     from unnest($6::uuid[], $7::text[]) as p (document_id, url) on conflict do nothing`,
    [
      at.workspace_id,
      at.knowledge_id,
      rootId,
      depthLeft,
      createdBy,
      pages.map(({ document_id }) => document_id),
      pages.map(({ url }) => url),
    ],
  )
