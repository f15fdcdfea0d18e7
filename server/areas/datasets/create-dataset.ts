import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { readOnly } from '#platform/errors'
import type { Answer } from '#platform/http/answer'
import { requireStorable } from '#platform/http/body'
import { type Context, scopeOf } from '#platform/http/context'
import {
  type Idempotency,
  keyOwnerOf,
  makeIdempotency,
  markReplayed,
  type Replay,
  replayOf,
} from '#platform/http/idempotency'
import { parse } from '#platform/http/input'
import type { Exchange } from '#platform/http/route'
import { checkLength, readUpload } from '#platform/http/upload'
import { newId } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import { bindVerbs } from '#platform/verbs'
import { readBody, refusing } from './body.ts'
import type { ParserThreads } from './parsing/thread.ts'
import { refusedBody, refusedFile } from './refusals.ts'
import { type Capture, type Dataset, newFields, patchFields } from './schema.ts'
import * as store from './store.ts'
import { nameOfFile, recordsMissing, split } from './wire.ts'
import { packRecords, withDraft } from './writing.ts'

// New datasets: from a request body, a file or a source.

/** Reads an attached source page by page. The composition root provides it, because connections are another area. */
export type ReadSource = (
  ctx: Context,
  sourceId: string,
  options: { limit?: number; signal: AbortSignal },
) => Promise<{ name: string; pages: AsyncIterable<JsonObject[]> }>

export type DatasetCreationOptions = { db: Database; vault: Vault; threads: ParserThreads; readSource: ReadSource }

type Deps = Omit<DatasetCreationOptions, 'vault'> & { idempotency: Idempotency }

const replayFor = (ctx: Context, { request }: Exchange, bodySha256: string): Replay | null =>
  ctx.idempotencyKey === null
    ? null
    : replayOf({
        holder: keyOwnerOf(ctx.credential, ctx.person.user_id, ctx.workspace.workspace_id),
        key: ctx.idempotencyKey,
        method: request.method,
        url: request.url,
        body: Buffer.from(bodySha256),
      })

/** Runs `insert` once per Idempotency-Key: the key, the response and the dataset are stored in one commit. */
async function once(
  { idempotency }: Deps,
  ctx: Context,
  exchange: Exchange,
  bodySha256: string,
  insert: (tx: Tx) => Promise<Dataset>,
): Promise<{ dataset: Dataset; made: boolean }> {
  let made = false
  const replay = replayFor(ctx, exchange, bodySha256)
  const dataset = await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const perform = async (): Promise<Dataset> => {
      made = true
      return insert(tx)
    }
    return replay === null ? perform() : answered(idempotency, tx, replay, perform)
  })
  if (!made) markReplayed(ctx)
  return { dataset, made }
}

export async function createDataset(deps: Deps, ctx: Context, _input: unknown, exchange: Exchange): Promise<Dataset> {
  const workspaceId = ctx.workspace.workspace_id
  return refusing(exchange, refusedBody, () =>
    withDraft(deps.db, workspaceId, async (draft) => {
      const parsed = await readBody(deps.threads, ctx, exchange, draft)
      const { settable, echoed } = split(parsed.fields)
      if (echoed.length > 0) throw readOnly(echoed.map(([field]) => field))
      const fields = parse(newFields, settable) as z.output<typeof newFields>
      if (!parsed.hasRecords) throw recordsMissing(parsed.fields)
      const { dataset, made } = await once(deps, ctx, exchange, parsed.input_sha256, async (tx) => {
        await draft.publish(tx)
        return insertNew(tx, ctx, fields, { versionId: draft.versionId, packed: parsed, profile: parsed.profile })
      })
      if (!made) await draft.discard()
      return dataset
    }),
  )
}

export async function importDataset(
  deps: Deps,
  ctx: Context,
  { infer }: { infer: string },
  exchange: Exchange,
): Promise<Dataset> {
  const workspaceId = ctx.workspace.workspace_id
  const mostBytes = ctx.config.HEDDLE_MAX_IMPORT_BYTES
  return refusing(exchange, refusedFile, () =>
    withDraft(deps.db, workspaceId, async (draft) => {
      // The other parts of the form are small. The limit applies to the file.
      checkLength(exchange.request, mostBytes + (1 << 20))
      const upload = await readUpload(exchange, { fields: ['name', 'description'], mostBytes }, ({ blocks }) =>
        deps.threads.parse({
          workspaceId,
          task: { of: 'file', infer: infer === 'true', mostBytes },
          blocks,
          store: draft.store,
          signal: ctx.stepAside(),
        }),
      )
      requireStorable(upload.fields)
      const fields = parse(patchFields, upload.fields) as z.output<typeof patchFields>
      const name = fields.name ?? nameOfFile(upload.fileName)
      const { result: parsed } = upload
      // The hash does not cover the raw body, because the boundary between its parts differs in each request.
      const sha256 = createHash('sha256').update(JSON.stringify([fields, upload.fileName, parsed.input_sha256]))
      const { dataset, made } = await once(deps, ctx, exchange, sha256.digest('hex'), async (tx) => {
        await draft.publish(tx)
        const content = { versionId: draft.versionId, packed: parsed, profile: parsed.profile }
        return insertNew(tx, ctx, { name, description: fields.description }, content)
      })
      if (!made) await draft.discard()
      return dataset
    }),
  )
}

export async function captureDataset(
  deps: Deps,
  ctx: Context,
  input: z.output<typeof Capture>,
  exchange: Exchange,
): Promise<Dataset> {
  const signal = ctx.stepAside()
  const sent = createHash('sha256').update(exchange.request.rawBody).digest('hex')
  // Checked before the source is read, because the source may be deleted or changed by now.
  const replay = replayFor(ctx, exchange, sent)
  const earlier = replay && (await ctx.db.tenant(scopeOf(ctx), (tx) => deps.idempotency.earlier(tx, replay)))
  if (earlier) {
    markReplayed(ctx)
    return datasetIn(earlier)
  }
  const source = await deps.readSource(ctx, input.source_id, {
    signal,
    ...(input.limit !== undefined && { limit: input.limit }),
  })
  return withDraft(deps.db, ctx.workspace.workspace_id, async (draft) => {
    const { packed, profile } = await packRecords(source.pages, draft).catch((error: unknown) => {
      throw refusedBody(error)
    })
    const { dataset, made } = await once(deps, ctx, exchange, sent, async (tx) => {
      await draft.publish(tx)
      const content = { versionId: draft.versionId, packed, profile }
      return insertNew(tx, ctx, { name: input.name ?? source.name }, content)
    })
    if (!made) await draft.discard()
    return dataset
  })
}

const verbsOfCreation = {
  createDataset,
  importDataset,
  captureDataset,
}

export function makeDatasetCreation(dependencies: DatasetCreationOptions) {
  const { vault, ...others } = dependencies
  return bindVerbs<Deps, typeof verbsOfCreation>({ ...others, idempotency: makeIdempotency(vault) }, verbsOfCreation)
}

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

/**
 * Returns the stored response of an earlier request with the same key. Otherwise performs the request and stores its
 * response.
 */
async function answered(
  idempotency: Idempotency,
  tx: Tx,
  replay: Replay,
  perform: () => Promise<Dataset>,
): Promise<Dataset> {
  const answer = await idempotency.once(tx, replay, async () => ({
    status: 201,
    headers: {},
    body: Buffer.from(JSON.stringify(await perform())),
  }))
  return datasetIn(answer)
}

const datasetIn = ({ body }: Answer): Dataset => JSON.parse(body!.toString()) as Dataset
