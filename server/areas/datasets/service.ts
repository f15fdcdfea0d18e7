import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { JsonObject } from '#model/definition'
import type { StandingIn } from '#platform/access/check'
import { MINUTE } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem, readOnly } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { type Idempotency, makeIdempotency, replayOf } from '#platform/http/idempotency'
import { parse } from '#platform/http/input'
import { decodeIdCursor, toPage } from '#platform/http/page'
import type { Exchange } from '#platform/http/route'
import type { ListQuery } from '#platform/http/schema'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import { exportStream } from './export.ts'
import { readPage } from './paging.ts'
import type { Parsed } from './parsing/parse.ts'
import { makeParserThreads } from './parsing/thread.ts'
import { refusedBody, refusedFile } from './refusals.ts'
import { type Capture, type Dataset, importFields, newFields, patchFields } from './schema.ts'
import { sendJson, sendLines } from './sending.ts'
import * as store from './store.ts'
import { blocksOf, checkLength, hasBody, isJson, letGo, readUpload } from './upload.ts'
import { etagOfDataset, nameOfFile, onTheWire, recordsMissing, requireMatch, requirePresent, split } from './wire.ts'
import { type Draft, packRecords, withDraft } from './writing.ts'

type ById = { dataset_id: string }

/** Everybody in the workspace but guests; viewers read. */
export const standingInDataset: StandingIn = async (ctx, datasetId) => {
  if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
  const found = await store.findFingerprint(ctx.tx, ctx.workspace.workspace_id, datasetId)
  return found === undefined ? undefined : ctx.workspace.role
}

/** Reads an attached source, page by page. Connected by the composition root: connections are another area. */
export type ReadSource = (
  ctx: Context,
  sourceId: string,
  options: { limit?: number; signal: AbortSignal },
) => Promise<{ name: string; pages: AsyncIterable<JsonObject[]> }>

export type DatasetsOptions = { db: Database; vault: Vault; log: Logger; readSource: ReadSource }

export function makeDatasets({ db, vault, log, readSource }: DatasetsOptions) {
  const threads = makeParserThreads()
  const idempotency = makeIdempotency(vault)
  const sweeping = setInterval(() => {
    db.tenant({ workspaceId: null, userId: null }, store.sweep).catch((error: unknown) =>
      log.warn({ err: error }, 'sweeping datasets failed'),
    )
  }, 5 * MINUTE).unref()

  const inScope = <T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> => ctx.db.tenant(scopeOf(ctx), work)

  const pointed = async (ctx: Context, datasetId: string): Promise<store.Pointed> => {
    const found = await inScope(ctx, (tx) => store.findPointed(tx, ctx.workspace.workspace_id, datasetId))
    if (!found) throw problem('not_found')
    return found
  }

  async function readBody(ctx: Context, exchange: Exchange, draft: Draft): Promise<Parsed> {
    const { request } = exchange
    const most = ctx.config.HEDDLE_MAX_DATASET_BYTES
    checkLength(request, most)
    if (hasBody(request) && !isJson(request))
      throw problem('unsupported_media_type', 'Send JSON with Content-Type: application/json.')
    return threads.parse({
      workspaceId: ctx.workspace.workspace_id,
      task: { of: 'body' },
      blocks: blocksOf(request.raw, most),
      store: draft.store,
      signal: ctx.signal,
    })
  }

  /** Does `insert` once per Idempotency-Key: the key, the answer and the dataset come with one commit. */
  async function once(
    ctx: Context,
    { request }: Exchange,
    bodySha256: string,
    insert: (tx: Tx) => Promise<Dataset>,
  ): Promise<{ dataset: Dataset; made: boolean }> {
    let made = false
    const key = ctx.idempotencyKey
    const dataset = await inScope(ctx, async (tx) => {
      const perform = async (): Promise<Dataset> => {
        made = true
        return insert(tx)
      }
      if (key === null) return perform()
      const replay = replayOf({
        credential: ctx.credential,
        userId: ctx.person.user_id,
        key,
        method: request.method,
        url: request.url,
        body: Buffer.from(bodySha256),
      })
      return answered(idempotency, tx, replay, perform)
    })
    return { dataset, made }
  }

  return {
    async listDatasets(ctx: Context, { cursor, limit }: ListQuery) {
      const rows = await store.listDatasets(ctx.tx, ctx.workspace.workspace_id, decodeIdCursor(cursor), limit)
      return toPage(rows, limit, (row) => [row.dataset_id])
    },

    async createDataset(ctx: Context, _input: unknown, exchange: Exchange): Promise<Dataset> {
      const workspaceId = ctx.workspace.workspace_id
      return refusing(exchange, refusedBody, () =>
        withDraft(db, workspaceId, async (draft) => {
          const parsed = await readBody(ctx, exchange, draft)
          const { settable, echoed } = split(parsed.fields)
          if (echoed.length > 0) throw readOnly(echoed.map(([field]) => field))
          const fields = parse(newFields, settable) as z.output<typeof newFields>
          if (!parsed.hasRecords) throw recordsMissing(parsed.fields)
          const { dataset, made } = await once(ctx, exchange, parsed.input_sha256, async (tx) => {
            await draft.publish(tx)
            return insertNew(tx, ctx, fields, { versionId: draft.versionId, packed: parsed, profile: parsed.profile })
          })
          if (!made) await draft.discard()
          return dataset
        }),
      )
    },

    async importDataset(ctx: Context, { infer }: { infer: string }, exchange: Exchange): Promise<Dataset> {
      const workspaceId = ctx.workspace.workspace_id
      const mostBytes = ctx.config.HEDDLE_MAX_IMPORT_BYTES
      return refusing(exchange, refusedFile, () =>
        withDraft(db, workspaceId, async (draft) => {
          // The parts around the file are small; the limit is the file's.
          checkLength(exchange.request, mostBytes + (1 << 20))
          const upload = await readUpload(exchange, { fields: ['name', 'description'], mostBytes }, ({ blocks }) =>
            threads.parse({
              workspaceId,
              task: { of: 'file', infer: infer === 'true', mostBytes },
              blocks,
              store: draft.store,
              signal: ctx.signal,
            }),
          )
          const fields = parse(importFields, upload.fields) as z.output<typeof importFields>
          const name = fields.name ?? nameOfFile(upload.fileName)
          const { result: parsed } = upload
          // Not the bytes of the body: the boundary between the parts is another one each time.
          const sha256 = createHash('sha256').update(JSON.stringify([fields, upload.fileName, parsed.input_sha256]))
          const { dataset, made } = await once(ctx, exchange, sha256.digest('hex'), async (tx) => {
            await draft.publish(tx)
            const content = { versionId: draft.versionId, packed: parsed, profile: parsed.profile }
            return insertNew(tx, ctx, { name, description: fields.description }, content)
          })
          if (!made) await draft.discard()
          return dataset
        }),
      )
    },

    async captureDataset(ctx: Context, input: z.output<typeof Capture>, exchange: Exchange): Promise<Dataset> {
      const { signal } = ctx
      const source = await readSource(ctx, input.source_id, {
        signal,
        ...(input.limit !== undefined && { limit: input.limit }),
      })
      return withDraft(db, ctx.workspace.workspace_id, async (draft) => {
        const { packed, profile } = await packRecords(source.pages, draft).catch((error: unknown) => {
          throw refusedBody(error)
        })
        const sent = createHash('sha256').update(exchange.request.rawBody).digest('hex')
        const { dataset, made } = await once(ctx, exchange, sent, async (tx) => {
          await draft.publish(tx)
          const content = { versionId: draft.versionId, packed, profile }
          return insertNew(tx, ctx, { name: input.name ?? source.name }, content)
        })
        if (!made) await draft.discard()
        return dataset
      })
    },

    /** With its records, as a stream. */
    async getDataset(ctx: Context, { dataset_id }: ById, exchange: Exchange): Promise<void> {
      const dataset = await pointed(ctx, dataset_id)
      const { version_id, columns_complete: _complete, ...summary } = dataset
      const etag = etagOfDataset(summary)
      if (exchange.request.headers['if-none-match'] === etag) {
        await exchange.reply.code(304).header('etag', etag).send()
        return
      }
      await sendJson(ctx, exchange, {
        summary: onTheWire(summary),
        versionId: version_id,
        count: summary.record_count,
        etag,
      })
    },

    async currentDataset(ctx: Context, { dataset_id }: ById): Promise<Dataset> {
      const found = await inScope(ctx, (tx) => store.findDataset(tx, ctx.workspace.workspace_id, dataset_id))
      if (!found) throw problem('not_found')
      return found
    },

    async updateDataset(ctx: Context, { dataset_id }: ById, exchange: Exchange): Promise<Dataset> {
      const workspaceId = ctx.workspace.workspace_id
      return refusing(exchange, refusedBody, () =>
        withDraft(db, workspaceId, async (draft) => {
          const parsed = await readBody(ctx, exchange, draft)
          const { settable, echoed } = split(parsed.fields)
          if (Object.hasOwn(parsed.fields, 'records')) throw recordsMissing(parsed.fields)
          const fields = parse(patchFields, settable) as z.output<typeof patchFields>
          const changed = await inScope(ctx, async (tx) => {
            const locked = await store.lockDataset(tx, workspaceId, dataset_id)
            if (!locked) throw problem('not_found')
            const { version_id, columns_complete: _complete, ...present } = locked
            requireMatch(exchange, present)
            requirePresent(onTheWire(present), echoed)
            if (parsed.hasRecords) {
              await draft.publish(tx)
              await store.pointDataset(tx, workspaceId, dataset_id, {
                versionId: draft.versionId,
                packed: parsed,
                profile: parsed.profile,
              })
              await store.retireVersion(tx, workspaceId, version_id)
            }
            return store.describeDataset(tx, workspaceId, dataset_id, fields)
          })
          if (!parsed.hasRecords) await draft.discard()
          return changed
        }),
      )
    },

    async deleteDataset(ctx: Context, { dataset_id }: ById, exchange: Exchange): Promise<void> {
      const workspaceId = ctx.workspace.workspace_id
      await inScope(ctx, async (tx) => {
        const locked = await store.lockDataset(tx, workspaceId, dataset_id)
        if (!locked) throw problem('not_found')
        const { version_id, columns_complete: _complete, ...present } = locked
        requireMatch(exchange, present)
        // Jobs and suites point here with keys that become NULL; they stay, and refuse to run until re-bound.
        await store.deleteDataset(tx, workspaceId, dataset_id)
        await store.retireVersion(tx, workspaceId, version_id)
      })
    },

    async listRecords(ctx: Context, { dataset_id, cursor, limit }: ById & ListQuery) {
      return readPage(ctx.db, await pointed(ctx, dataset_id), { cursor, limit })
    },

    async exportDataset(ctx: Context, { dataset_id, format }: ById & { format: 'csv' | 'jsonl' }, exchange: Exchange) {
      const dataset = await pointed(ctx, dataset_id)
      await sendLines(exchange, dataset, format, exportStream(ctx.db, dataset, format))
    },

    stop(): void {
      clearInterval(sweeping)
    },
  }
}

export type Datasets = ReturnType<typeof makeDatasets>

function insertNew(
  tx: Tx,
  ctx: Context,
  fields: { name: string; description?: string | null | undefined },
  content: store.Content,
): Promise<Dataset> {
  const { workspace_id } = ctx.workspace
  return store.insertDataset(
    tx,
    workspace_id,
    { dataset_id: newId(), name: fields.name, description: fields.description ?? null, created_by: ctx.person.user_id },
    content,
  )
}

/** The stored answer of an earlier request with the same key, or this one's, which is then stored. */
async function answered(
  idempotency: Idempotency,
  tx: Tx,
  replay: ReturnType<typeof replayOf>,
  perform: () => Promise<Dataset>,
): Promise<Dataset> {
  const answer = await idempotency.once(tx, replay, async () => ({
    status: 201,
    headers: {},
    body: Buffer.from(JSON.stringify(await perform())),
  }))
  return JSON.parse(answer.body!.toString()) as Dataset
}

/** A refused upload is answered at once; what still comes of it is read past. */
async function refusing<T>(
  exchange: Exchange,
  explain: (error: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    letGo(exchange)
    // The body is read and gone: what the kernel would try again would find nothing.
    const { code } = error as { code?: string }
    if (code === '40P01' || code === '40001')
      throw problem('unavailable', 'Others changed the same at the same time. Send it again.', { retryAfterS: 1 })
    throw explain(error)
  }
}
