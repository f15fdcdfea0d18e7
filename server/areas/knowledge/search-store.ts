import type { Tx } from '#platform/db/pool'
import type { Embedding } from './embeddings.ts'
import type { Language } from './schema.ts'
import { HEADLINE } from './text.ts'

export type Ranked = { document_id: string; position: number }

/** The maximum number of passages that are read for a frequent word. It limits the cost of a search. */
const MOST = 2_000

export type FullTextHit = Ranked & { score: number; words: string }

export const rankByWords = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  language: Language,
  query: string,
): Promise<FullTextHit[]> =>
  tx.rows<FullTextHit>(
    'select document_id, position, score, words from search_knowledge($1, $2, $3::text::regconfig, $4, $5)',
    [workspaceId, knowledgeId, language, query, MOST],
  )

/** Returns the nearest passages by the signs of their components, with their vectors for an exact comparison. */
export const nearestBySigns = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  bits: string,
  most: number,
): Promise<(Ranked & { embedding: Buffer })[]> =>
  tx.rows<Ranked & { embedding: Buffer }>(
    `select c.document_id, c.position, c.embedding from knowledge_chunks c
     join knowledge_documents d on d.workspace_id = c.workspace_id and d.document_id = c.document_id and d.ready_revision = c.revision
     where c.workspace_id = $1 and c.knowledge_id = $2 and c.embedding is not null
       and bit_length(c.embedding_bits) = bit_length($3::text::bit varying)
     order by bit_count(c.embedding_bits # $3::text::bit varying) limit $4`,
    [workspaceId, knowledgeId, bits, most],
  )

export type PassageRow = Ranked & {
  document_name: string
  url: string | null
  from: number
  to: number
  heading: string[]
  text: string
}

export const loadPassages = (tx: Tx, workspaceId: string, wanted: Ranked[]): Promise<PassageRow[]> =>
  tx.rows<PassageRow>(
    `select c.document_id, c.position, d.name as document_name, d.url, c.from_offset as from, c.to_offset as to, c.heading,
       c.body as text
     from unnest($2::uuid[], $3::int[]) as w (document_id, position)
     join knowledge_documents d on d.workspace_id = $1 and d.document_id = w.document_id
     join knowledge_chunks c on c.workspace_id = $1 and c.document_id = w.document_id and c.revision = d.ready_revision
       and c.position = w.position`,
    [workspaceId, wanted.map(({ document_id }) => document_id), wanted.map(({ position }) => position)],
  )

export const markWords = async (tx: Tx, language: Language, words: string, texts: string[]): Promise<string[]> =>
  (
    await tx.rows<{ marked: string }>(
      `select ts_headline($1::text::regconfig, t.body, $2::text::tsquery, $3) as marked
       from unnest($4::text[]) with ordinality as t (body, n) order by t.n`,
      [language, words, HEADLINE, texts],
    )
  ).map(({ marked }) => marked)

export const findSearched = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
): Promise<
  | ({
      language: Language
      owner_id: string | null
    } & Embedding)
  | undefined
> =>
  tx.maybe(
    `select language, owner_id, embedding_credential_id, embedding_installation, embedding_model from knowledge_bases
     where workspace_id = $1 and knowledge_id = $2`,
    [workspaceId, knowledgeId],
  )
