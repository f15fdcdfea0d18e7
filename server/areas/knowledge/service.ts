import { checkOwner, checkShares, replaceShares } from '#areas/teams/personal-shares'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { indexAgain } from './document-store.ts'
import type { Embedding } from './embeddings.ts'
import { KNOWLEDGE_HINTS } from './indexing.ts'
import type { Knowledge, KnowledgePatch, NewEmbeddings, NewKnowledge } from './schema.ts'
import * as store from './store.ts'

// The operations on knowledge bases. Those on their documents are in documents.ts.

export type ById = { knowledge_id: string }

export type KnowledgeParts = {
  /**
   * Returns the provider of a language model's credential. Undefined if it is another kind of credential, or the person
   * may not use it.
   */
  findProvider(ctx: Context, credentialId: string): Promise<string | undefined>
  installation: { model: string } | null
}

const MAX_BASES = 1_000

const view = (row: Knowledge): Knowledge => ({
  ...row,
  shared: row.shared.map(({ kind, id, role }) => ({
    kind,
    ...(id !== undefined && { id: toWire(kind === 'team' ? 'team' : 'usr', id) }),
    role,
  })),
})

export async function getKnowledge(ctx: Context, { knowledge_id }: ById): Promise<Knowledge> {
  const row = await store.findKnowledge(ctx.tx, ctx.workspace.workspace_id, knowledge_id, ctx.person.user_id)
  if (!row?.role) throw problem('not_found')
  return view(row)
}

export async function listKnowledge(ctx: Context, asked: ListInput) {
  const page = await store.listKnowledge(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)
  return { ...page, items: page.items.map(view) }
}

export async function createKnowledge(parts: KnowledgeParts, ctx: Context, input: NewKnowledge): Promise<Knowledge> {
  const { workspace_id } = ctx.workspace
  const { shared = [], embeddings = null } = input
  await checkShares(ctx, shared)
  const embedding = await embeddingOf(parts, ctx, embeddings)
  if ((await store.countKnowledge(ctx.tx, workspace_id)) >= MAX_BASES)
    throw problem('conflict', `A workspace has at most ${MAX_BASES} knowledge bases. Delete one first.`)
  const knowledge_id = newId()
  await store.insertKnowledge(ctx.tx, workspace_id, {
    knowledge_id,
    name: input.name,
    description: input.description ?? null,
    language: input.language ?? 'simple',
    ...embedding,
    owner_id: ctx.person.user_id,
  })
  await replaceShares(ctx.tx, workspace_id, 'knowledge', knowledge_id, shared)
  return getKnowledge(ctx, { knowledge_id })
}

export async function updateKnowledge(
  parts: KnowledgeParts,
  ctx: Context,
  { knowledge_id, ...patch }: ById & KnowledgePatch,
): Promise<Knowledge> {
  const { workspace_id } = ctx.workspace
  const present = await store.lockKnowledge(ctx.tx, workspace_id, knowledge_id)
  if (!present) throw problem('not_found')
  if (patch.shared !== undefined || patch.owner_id !== undefined) await requireOwner(ctx, knowledge_id)
  if (patch.shared) await checkShares(ctx, patch.shared)
  if (patch.owner_id !== undefined) await checkOwner(ctx, patch.owner_id)
  // The credential is opened with the owner's rights, so only the owner may choose the model.
  if (patch.embeddings) await requireOwner(ctx, knowledge_id)
  const embedding = patch.embeddings === undefined ? {} : await embeddingOf(parts, ctx, patch.embeddings)
  const after: store.BaseRow = {
    ...present,
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.language !== undefined && { language: patch.language }),
    ...(patch.owner_id !== undefined && { owner_id: patch.owner_id }),
    ...embedding,
  }
  await store.updateKnowledge(ctx.tx, workspace_id, after)
  if (patch.shared) await replaceShares(ctx.tx, workspace_id, 'knowledge', knowledge_id, patch.shared)
  const isOtherIndex =
    after.language !== present.language ||
    after.embedding_credential_id !== present.embedding_credential_id ||
    after.embedding_installation !== present.embedding_installation ||
    after.embedding_model !== present.embedding_model
  if (isOtherIndex) {
    await indexAgain(ctx.tx, workspace_id, knowledge_id, { documentId: null, fetch: false })
    ctx.tx.hint(KNOWLEDGE_HINTS, '')
  }
  return getKnowledge(ctx, { knowledge_id })
}

export async function deleteKnowledge(ctx: Context, { knowledge_id }: ById): Promise<void> {
  await store.deleteKnowledge(ctx.tx, ctx.workspace.workspace_id, knowledge_id)
}

async function requireOwner(ctx: Context, knowledgeId: string): Promise<void> {
  const role = await store.findRole(ctx.tx, ctx.workspace.workspace_id, knowledgeId, ctx.person.user_id)
  if (role !== 'owner')
    throw problem('forbidden', 'Only the owner of the knowledge base shares it, gives it away and chooses its model.')
}

/** Returns the model for a base, or throws why it cannot be used. */
async function embeddingOf(parts: KnowledgeParts, ctx: Context, wanted: NewEmbeddings | null): Promise<Embedding> {
  if (wanted === null) return { embedding_credential_id: null, embedding_installation: false, embedding_model: null }
  const { credential_id, model } = wanted
  const path = '/embeddings/credential_id'
  if (credential_id == null) {
    const { installation } = parts
    if (installation === null)
      throw invalid([{ path, message: 'is required: the installation offers no embedding model' }])
    if (model !== undefined && model !== installation.model)
      throw invalid([
        {
          path: '/embeddings/model',
          message: `must be ${installation.model} (the model of the installation) or absent`,
        },
      ])
    return { embedding_credential_id: null, embedding_installation: true, embedding_model: installation.model }
  }
  if (model === undefined) throw invalid([{ path: '/embeddings/model', message: 'is required with a credential' }])
  const provider = await parts.findProvider(ctx, credential_id)
  if (provider === undefined) throw unknownReference(path)
  if (provider === 'anthropic') throw invalid([{ path, message: 'is of Anthropic, which has no embedding models' }])
  return { embedding_credential_id: credential_id, embedding_installation: false, embedding_model: model }
}
