import type { z } from 'zod'
import type { FindAccessLevel } from '#platform/access/check'
import { MINUTE } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { matchingTag, sendUnchanged } from '#platform/http/answer'
import { type Context, scopeOf } from '#platform/http/context'
import { parse } from '#platform/http/input'
import type { ListInput } from '#platform/http/list'
import type { Exchange } from '#platform/http/route'
import type { ListQuery } from '#platform/http/schema'
import type { Logger } from '#platform/log'
import { readBody, refusing } from './body.ts'
import { type DatasetCreationOptions, makeDatasetCreation } from './create-dataset.ts'
import { exportStream } from './export.ts'
import { readPage } from './paging.ts'
import { makeParserThreads } from './parsing/thread.ts'
import { refusedBody } from './refusals.ts'
import { type Dataset, patchFields } from './schema.ts'
import { sendJson, sendLines } from './sending.ts'
import * as store from './store.ts'
import { etagOfDataset, onTheWire, recordsMissing, requireMatch, requirePresent, split } from './wire.ts'
import { withDraft } from './writing.ts'

type ById = { dataset_id: string }

/** All members of the workspace except guests. Viewers may only read. */
export const accessLevelInDataset: FindAccessLevel = async (ctx, datasetId) => {
  if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
  const found = await store.findFingerprint(ctx.tx, ctx.workspace.workspace_id, datasetId)
  return found === undefined ? undefined : ctx.workspace.role
}

export type DatasetsOptions = Omit<DatasetCreationOptions, 'threads'> & { log: Logger }

export function makeDatasets({ db, vault, log, readSource }: DatasetsOptions) {
  const threads = makeParserThreads()
  const sweeping = setInterval(() => {
    db.tenant({ workspaceId: null, userId: null }, store.sweep).catch((error: unknown) =>
      log.warn({ err: error }, 'sweeping datasets failed'),
    )
  }, 5 * MINUTE).unref()

  const inScope = <T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> => ctx.db.tenant(scopeOf(ctx), work)

  const pointed = async (ctx: Context, datasetId: string): Promise<store.DatasetVersion> => {
    const found = await inScope(ctx, (tx) => store.findDatasetVersion(tx, ctx.workspace.workspace_id, datasetId))
    if (!found) throw problem('not_found')
    return found
  }

  return {
    ...makeDatasetCreation({ db, vault, threads, readSource }),

    listDatasets: (ctx: Context, asked: ListInput) => store.listDatasets(ctx.tx, ctx.workspace.workspace_id, asked),

    /** Sends the dataset with its records, as a stream. */
    async getDataset(ctx: Context, { dataset_id }: ById, exchange: Exchange): Promise<void> {
      const dataset = await pointed(ctx, dataset_id)
      const { version_id, columns_complete: _complete, ...summary } = dataset
      const etag = etagOfDataset(summary)
      const known = matchingTag(exchange.request.headers['if-none-match'], etag)
      if (known !== undefined) {
        await sendUnchanged(exchange.reply, known)
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
          const parsed = await readBody(threads, ctx, exchange, draft)
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
        // Jobs and suites reference the dataset with keys that become NULL. They stay, and refuse to run until another
        // dataset is bound.
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
