import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { Embedding } from './embeddings.ts'
import { type Knowledge, knowledgeList, type Language } from './schema.ts'

export type Role = 'owner' | 'edit' | 'use' | 'manage'

const columns = `b.knowledge_id, b.name, b.description, b.language,
  case when b.embedding_credential_id is not null or b.embedding_installation then
    jsonb_build_object('credential_id', b.embedding_credential_id, 'model', b.embedding_model) end as embeddings,
  b.owner_id,
  coalesce((select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', s.kind, 'id', coalesce(s.user_id, s.team_id), 'role', s.role))
    order by s.kind, s.user_id, s.team_id) from knowledge_shares s
    where s.workspace_id = b.workspace_id and s.knowledge_id = b.knowledge_id), '[]') as shared,
  d.document_count, d.waiting_count, d.bytes, b.created_at, b.updated_at`

const counted = `cross join lateral (select count(*)::int as document_count,
    (count(*) filter (where status in ('pending', 'indexing')))::int as waiting_count, coalesce(sum(bytes), 0)::float8 as bytes
  from knowledge_documents d where d.workspace_id = b.workspace_id and d.knowledge_id = b.knowledge_id) d`

export const findRole = async (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  userId: string,
): Promise<Role | undefined> => {
  const row = await tx.maybe<{ role: Role | null }>('select knowledge_role($1, $2, $3) as role', [
    workspaceId,
    knowledgeId,
    userId,
  ])
  return row?.role ?? undefined
}

export const findKnowledge = (
  tx: Tx,
  workspaceId: string,
  knowledgeId: string,
  userId: string,
): Promise<Knowledge | undefined> =>
  tx.maybe<Knowledge>(
    `select ${columns}, knowledge_role(b.workspace_id, b.knowledge_id, $3) as role
     from knowledge_bases b ${counted} where b.workspace_id = $1 and b.knowledge_id = $2`,
    [workspaceId, knowledgeId, userId],
  )

export const listKnowledge = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<Knowledge>(tx, knowledgeList, asked, {
    sql: `select ${columns}, b.role from (
        select b.*, knowledge_role(b.workspace_id, b.knowledge_id, $2) as role from knowledge_bases b where b.workspace_id = $1) b ${counted}
      where b.role is not null`,
    values: [workspaceId, userId],
  })

/** Counts the bases. The lock is held until the commit, so that two simultaneous requests cannot exceed the limit. */
export const countKnowledge = async (tx: Tx, workspaceId: string): Promise<number> => {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 60))', [workspaceId])
  const row = await tx.row<{ count: number }>(
    'select count(*)::int as count from knowledge_bases where workspace_id = $1',
    [workspaceId],
  )
  return row.count
}

export type BaseRow = {
  knowledge_id: string
  name: string
  description: string | null
  language: Language
  owner_id: string | null
} & Embedding

export const insertKnowledge = (tx: Tx, workspaceId: string, row: BaseRow): Promise<number> =>
  tx.count(
    `insert into knowledge_bases (workspace_id, knowledge_id, name, description, language, embedding_credential_id,
       embedding_model, owner_id, embedding_installation) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      workspaceId,
      row.knowledge_id,
      row.name,
      row.description,
      row.language,
      row.embedding_credential_id,
      row.embedding_model,
      row.owner_id,
      row.embedding_installation,
    ],
  )

export const lockKnowledge = (tx: Tx, workspaceId: string, knowledgeId: string): Promise<BaseRow | undefined> =>
  tx.maybe<BaseRow>(
    `select knowledge_id, name, description, language, embedding_credential_id, embedding_installation, embedding_model, owner_id
     from knowledge_bases where workspace_id = $1 and knowledge_id = $2 for no key update`,
    [workspaceId, knowledgeId],
  )

export const updateKnowledge = (tx: Tx, workspaceId: string, row: BaseRow): Promise<number> =>
  tx.count(
    `update knowledge_bases set name = $3, description = $4, language = $5, embedding_credential_id = $6,
       embedding_model = $7, owner_id = $8, embedding_installation = $9, updated_at = now() where workspace_id = $1 and knowledge_id = $2`,
    [
      workspaceId,
      row.knowledge_id,
      row.name,
      row.description,
      row.language,
      row.embedding_credential_id,
      row.embedding_model,
      row.owner_id,
      row.embedding_installation,
    ],
  )

export const deleteKnowledge = (tx: Tx, workspaceId: string, knowledgeId: string): Promise<number> =>
  tx.count('delete from knowledge_bases where workspace_id = $1 and knowledge_id = $2', [workspaceId, knowledgeId])

/** Transfers the bases of a person to an owner of the workspace, preferably to the one who removed the person. */
export const reassignBases = (
  tx: Tx,
  { workspaceId, userId, byUserId }: { workspaceId: string; userId: string; byUserId: string | null },
): Promise<number> =>
  tx.count(
    `update knowledge_bases set owner_id = (
       select user_id from memberships where workspace_id = $1 and user_id <> $2 and role = 'owner'
       order by user_id = $3 desc, joined_at, user_id limit 1), updated_at = now()
     where workspace_id = $1 and owner_id = $2`,
    [workspaceId, userId, byUserId],
  )
