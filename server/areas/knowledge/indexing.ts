import { setImmediate as breathe } from 'node:timers/promises'
import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { UNKNOWN_ID } from '#platform/ids'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { ModelProblem } from '#providers/llm/problem'
import { type Chunk, chunkText } from './chunk.ts'
import { asPages, linksIn } from './crawl.ts'
import * as store from './document-store.ts'
import { type Embed, type EmbedParts, embedderFor, signsOf, toBytes } from './embeddings.ts'
import { type Extracted, type ExtractParts, extractText, MAX_CONTENT_BYTES, tooLarge } from './extract.ts'
import { IndexFailure } from './failure.ts'
import { MAX_CRAWL_PAGES } from './schema.ts'
import { searchable, storable } from './text.ts'

// Indexes documents in the background. Each slice of passages is a short transaction, so that a large document blocks
// nothing. If a process crashes, another process takes over the document when the lease expires, and continues after
// the last slice.

export const KNOWLEDGE_HINTS = 'knowledge'

const POLL_EVERY = 5 * SECOND
const LEASE_S = 120
const MAX_AT_ONCE = 3
const SLICE = 64
const MAX_ATTEMPTS = 4
/** A document that repeatedly crashes its process is not claimed forever. */
const MAX_CLAIMS = 8
const MAX_CHUNKS_OF_ONE = 20_000
export const MAX_CHUNKS_OF_BASE = 200_000

export type IndexerOptions = ExtractParts & EmbedParts & { db: Database; log: Logger }

export function makeIndexer(options: IndexerOptions): Omit<PeriodicCheck, 'wake'> {
  const { db, log } = options
  const stopping = new AbortController()
  const working = new Map<string, Promise<void>>()
  let after = UNKNOWN_ID

  async function check(): Promise<number> {
    while (working.size < MAX_AT_ONCE && !stopping.signal.aborted) {
      const claimed = await store.claimDocument(db, { after, busy: [...working.keys()], leaseS: LEASE_S })
      if (!claimed) break
      after = claimed.workspace_id
      const over = indexDocument(options, claimed, stopping.signal)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted)
            log.warn(
              { err: error, document_id: claimed.document_id },
              'a document could not be indexed and is tried again later',
            )
        })
        .finally(() => {
          working.delete(claimed.workspace_id)
          periodicCheck.wake()
        })
      working.set(claimed.workspace_id, over)
    }
    return POLL_EVERY
  }

  const periodicCheck = makePeriodicCheck({
    check,
    listen: (wake) => db.listen(KNOWLEDGE_HINTS, wake),
    onError: (error) => log.warn({ err: error }, 'documents could not be indexed yet'),
  })

  return {
    start: periodicCheck.start,
    async stop(): Promise<void> {
      stopping.abort()
      await periodicCheck.stop()
      await Promise.all(working.values())
    },
  }
}

async function indexDocument(options: IndexerOptions, at: store.Claimed, signal: AbortSignal): Promise<void> {
  const scope = { workspaceId: at.workspace_id, userId: null }
  const work = await options.db.tenant(scope, (tx) => store.findWork(tx, at))
  if (!work) return
  try {
    if (work.attempts > MAX_CLAIMS) throw new IndexFailure('gave_up', 'indexing failed too often')
    const text = work.content ?? (await fetchText(options, at, work, signal))
    if (text !== undefined) await indexText(options, at, work, text, signal)
  } catch (error) {
    if (signal.aborted) return
    const failure = asFailure(error)
    const againInS = failure.retryable && work.attempts < MAX_ATTEMPTS ? 10 * 2 ** work.attempts : null
    const told = { code: failure.code, message: failure.message }
    await options.db.tenant(scope, (tx) =>
      store.failDocument(tx, at, { revision: work.revision, error: told, againInS }),
    )
    if (!(error instanceof IndexFailure)) throw error
  }
}

const asFailure = (error: unknown): IndexFailure => {
  if (error instanceof IndexFailure) return error
  if (isProblem(error, 'quota_exceeded')) return new IndexFailure('quota_exceeded', error.message)
  return new IndexFailure('internal', 'the document could not be indexed', { retryable: true })
}

/**
 * Stores the text before it is split, together with the pages that it links to. Returns undefined if the document was
 * deleted or must be indexed again.
 */
async function fetchText(
  options: IndexerOptions,
  at: store.Claimed,
  work: store.WorkRow,
  signal: AbortSignal,
): Promise<string | undefined> {
  const extracted = await extractText(options, at.workspace_id, work, signal)
  const content = storable(extracted.text)
  const bytes = Buffer.byteLength(content)
  if (bytes > MAX_CONTENT_BYTES) throw tooLarge()
  return options.db.tenant({ workspaceId: at.workspace_id, userId: null }, async (tx) => {
    const isNamed = work.kind !== 'url' || (work.source.name_given ?? false)
    const name = isNamed ? work.name : storable(extracted.name ?? work.name).slice(0, 200)
    const url = extracted.url ?? null
    if (!(await store.saveContent(tx, at, work.revision, { name, content, bytes, url }))) return undefined
    if (work.depth_left > 0) await goOn(tx, at, work, extracted)
    return content
  })
}

/**
 * Adds the linked pages of a crawl. The first document of the crawl is locked to enforce the limit of pages, because
 * several processes index its pages.
 */
async function goOn(
  tx: Parameters<typeof store.lockRoot>[0],
  at: store.Claimed,
  work: store.WorkRow,
  { text, url }: Extracted,
): Promise<void> {
  const rootId = work.root_id ?? work.document_id
  const root = await store.lockRoot(tx, at.workspace_id, rootId)
  const { crawl } = (root?.source ?? {}) as { crawl?: { max_pages: number } }
  if (!root || !crawl) return
  let room = crawl.max_pages - root.pages
  const { depth_left, created_by } = work
  for (const page of asPages(linksIn(text, url ?? work.url!, 10 * MAX_CRAWL_PAGES))) {
    if (room <= 0) break
    room -= await store.insertPages(tx, at, { rootId, depthLeft: depth_left - 1, createdBy: created_by }, [page])
  }
  tx.hint(KNOWLEDGE_HINTS, '')
}

async function indexText(
  options: IndexerOptions,
  at: store.Claimed,
  work: store.WorkRow,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const { db } = options
  const scope = { workspaceId: at.workspace_id, userId: null }
  const { revision, language } = work
  const chunks = chunkText(text)
  if (chunks.length > MAX_CHUNKS_OF_ONE) throw tooLarge()
  const [there, others] = await db.tenant(scope, async (tx) => [
    await store.countChunks(tx, at, revision),
    await store.countInBase(tx, at),
  ])
  if (others + chunks.length > MAX_CHUNKS_OF_BASE)
    throw new IndexFailure('knowledge_full', `a knowledge base has at most ${MAX_CHUNKS_OF_BASE} passages`)
  let embed = await embedderFor(options, at.workspace_id, work)
  let error: JsonObject | null =
    (work.embedding_credential_id !== null || work.embedding_installation) && !embed
      ? { code: 'embedding_failed', message: whyNoEmbedder(work) }
      : null
  for (let from = there; from < chunks.length; from += SLICE) {
    signal.throwIfAborted()
    const slice = chunks.slice(from, from + SLICE)
    const vectors = embed && (await vectorsOf(embed, work, slice, signal))
    if (vectors instanceof ModelProblem) {
      embed = undefined
      error = { code: 'embedding_failed', message: vectors.message }
    }
    const rows = slice.map((chunk, index) =>
      rowOf(work.name, chunk, from + index, Array.isArray(vectors) ? vectors[index] : undefined),
    )
    const goesOn = await db.tenant(scope, async (tx) => {
      if (!(await store.renewLease(tx, at, revision, LEASE_S))) return false
      await store.insertChunks(tx, at, { revision, language }, rows)
      return true
    })
    if (!goesOn) return
    await breathe()
  }
  await db.tenant(scope, (tx) => store.finishDocument(tx, at, { revision, chunkCount: chunks.length, error }))
}

const whyNoEmbedder = ({ embedding_installation, embedding_model }: store.WorkRow): string =>
  embedding_installation
    ? `the installation does not offer the embedding model ${embedding_model} any more; choose another for the knowledge base`
    : 'the owner of the knowledge base may not use its embedding model'

/** Retries later if the model is unavailable. After the last attempt, the document is searchable only by its words. */
async function vectorsOf(
  embed: Embed,
  work: store.WorkRow,
  chunks: Chunk[],
  signal: AbortSignal,
): Promise<Float32Array[] | ModelProblem> {
  try {
    return await embed(
      chunks.map(({ heading, text }) => [work.name, ...heading, text].join('\n')),
      signal,
    )
  } catch (error) {
    if (!(error instanceof ModelProblem)) throw error
    // A limit of tokens per minute allows new tokens in the next minute.
    const mayWorkLater = error.retryable || error.code === 'quota_exceeded'
    if (mayWorkLater && work.attempts < MAX_ATTEMPTS)
      throw new IndexFailure('embedding_failed', error.message, { retryable: true })
    return error
  }
}

const rowOf = (name: string, chunk: Chunk, position: number, vector: Float32Array | undefined): store.ChunkRow => ({
  position,
  from: chunk.from,
  to: chunk.to,
  heading: chunk.heading,
  body: chunk.text,
  heading_words: searchable(chunk.heading.at(-1) ?? ''),
  above_words: searchable([name, ...chunk.heading.slice(0, -1)].join('\n')),
  body_words: searchable(chunk.text),
  embedding: vector === undefined ? null : toBytes(vector).toString('base64'),
  bits: vector === undefined ? null : signsOf(vector),
})
