import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { type Embed, type EmbedAsker, type EmbedParts, embedderFor, signsOf, toVector } from './embeddings.ts'
import type { Passage, Passages, SearchRequest } from './schema.ts'
import * as store from './search-store.ts'
import { highlightsIn, searchable, unmarked } from './text.ts'

// Finds passages for a question by their words and, if the base has an embedding model, also by their meaning. Both
// rankings are merged by reciprocal ranks, which need no common scale.

const MAX_NEAR = 200
const MAX_RANKED = 100
/** The constant of reciprocal rank fusion. The larger it is, the less the first places differ. */
const RRF = 60

export type SearchParts = EmbedParts & { db: Database }

export type SearchIn = {
  workspaceId: string
  knowledgeId: string
  q: string
  limit: number
  signal?: AbortSignal
  /** The caller of the embedding model. By default, the owner of the base. */
  asker?: EmbedAsker
}

const keyOf = ({ document_id, position }: store.Ranked): string => `${document_id} ${position}`

/** Searches a base without checking access. Throws `not_found`. */
export async function searchKnowledge(parts: SearchParts, wanted: SearchIn): Promise<Passages> {
  const { workspaceId, knowledgeId, q, limit, signal, asker } = wanted
  const scope = { workspaceId, userId: null }
  const base = await parts.db.tenant(scope, (tx) => store.findSearched(tx, workspaceId, knowledgeId))
  if (!base) throw problem('not_found')
  const vector = await vectorOf(await embedderFor(parts, workspaceId, base, asker), q, signal)
  return parts.db.tenant(scope, async (tx) => {
    const byWords = await store.rankByWords(tx, workspaceId, knowledgeId, base.language, searchable(q))
    const near =
      vector === undefined
        ? undefined
        : await store.nearestBySigns(tx, workspaceId, knowledgeId, signsOf(vector), MAX_NEAR)
    const ranked = near === undefined ? byWords : fused(byWords, nearest(near, vector!))
    const best = ranked.slice(0, limit)
    const rows = new Map((await store.loadPassages(tx, workspaceId, best)).map((row) => [keyOf(row), row]))
    const found = best.flatMap((one) => {
      const row = rows.get(keyOf(one))
      return row ? [{ ...row, score: one.score }] : []
    })
    const words = byWords[0]?.words
    const texts = found.map(({ text }) => unmarked(text))
    const marked = words === undefined ? texts : await store.markWords(tx, base.language, words, texts)
    const passages = found.map((row, at): Passage => ({ ...row, highlights: highlightsIn(marked[at] ?? '') }))
    return { passages, ranked_by: near === undefined ? 'full_text' : 'hybrid' }
  })
}

/** If the model does not respond, the search uses only the words. */
const vectorOf = async (
  embed: Embed | undefined,
  q: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array | undefined> => {
  if (!embed) return undefined
  try {
    return (await embed([q], signal))[0]
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof Error) return undefined
    throw error
  }
}

function nearest(found: (store.Ranked & { embedding: Buffer })[], vector: Float32Array): store.Ranked[] {
  const scored = found.flatMap(({ embedding, ...at }) => {
    const other = toVector(embedding)
    return other.length === vector.length ? [{ ...at, near: dot(other, vector) }] : []
  })
  return scored.sort((a, b) => b.near - a.near).slice(0, MAX_RANKED)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!
  return sum
}

export function fused(...orders: store.Ranked[][]): (store.Ranked & { score: number })[] {
  const scores = new Map<string, store.Ranked & { score: number }>()
  for (const order of orders)
    for (const [rank, { document_id, position }] of order.entries()) {
      const key = keyOf({ document_id, position })
      const before = scores.get(key)?.score ?? 0
      scores.set(key, { document_id, position, score: before + 1 / (RRF + rank + 1) })
    }
  return [...scores.values()].sort((a, b) => b.score - a.score)
}

export const searchForCaller = (
  parts: SearchParts,
  ctx: Context,
  { knowledge_id, q, limit }: { knowledge_id: string } & SearchRequest,
): Promise<Passages> =>
  searchKnowledge(parts, {
    workspaceId: scopeOf(ctx).workspaceId!,
    knowledgeId: knowledge_id,
    q,
    limit,
    signal: ctx.signal,
    asker: { principal: { userId: ctx.person.user_id } },
  })
