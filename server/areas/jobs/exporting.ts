import { csvHeader, csvRow } from '#areas/datasets/export'
import { sendLines } from '#areas/datasets/sending'
import type { DatasetUse } from '#areas/datasets/use'
import { readBlob } from '#engine/outputs'
import type { Json, JsonObject } from '#model/definition'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import type { Blobs } from '#providers/blobs/index'
import { outputRecord } from './ledger/output.ts'
import { makePages, type Pages } from './ledger/pages.ts'
import { type ExportedRow, type ExportOf, findExportOf, listExported } from './ledger-store.ts'
import type { RecordStatus } from './schema.ts'

// Exports the records of a run as a file, each with its `result` and its `error`.

export type ExportOptions = { datasets: Pick<DatasetUse, 'findPointed' | 'readVersion'>; blobs: Blobs }

const ROWS_AT_ONCE = 500

type ExportInput = {
  job_id: string
  run_id?: string | undefined
  status: RecordStatus
  format: 'csv' | 'jsonl'
}

export const exportRecords =
  (options: ExportOptions) =>
  async (ctx: Context, input: ExportInput, exchange: Exchange): Promise<void> => {
    const { workspace_id } = ctx.workspace
    const { run, pages } = await ctx.db.tenant(scopeOf(ctx), async (tx) => {
      const run = await findExportOf(tx, workspace_id, input.job_id, input.run_id ?? null)
      if (!run) throw problem('not_found', 'The job has no such run.')
      const dataset =
        run.dataset_id === null ? undefined : await options.datasets.findPointed(tx, workspace_id, run.dataset_id)
      const versionId = dataset?.sha256 === run.dataset_sha256 ? dataset?.version_id : undefined
      const total = dataset?.record_count ?? 0
      const { datasets } = options
      return {
        run,
        pages:
          versionId === undefined ? undefined : makePages({ datasets, workspaceId: workspace_id, versionId, total }),
      }
    })
    if (input.format === 'csv' && run.columns === null)
      throw problem('conflict', 'The columns of this run are not known. Export it as jsonl.')
    const rows = readRows(ctx, options, run, pages, input.status)
    const parts = input.format === 'csv' ? table(rows, run.columns!) : lines(rows)
    await sendLines(exchange, { name: `${run.name} ${input.status}` }, input.format, parts)
  }

async function* readRows(
  ctx: Context,
  options: ExportOptions,
  run: ExportOf,
  pages: Pages | undefined,
  status: RecordStatus,
): AsyncGenerator<JsonObject[]> {
  const { workspace_id } = ctx.workspace
  for (let after = -1; ; ) {
    const from = after
    const rows = await ctx.db.tenant(scopeOf(ctx), (tx) =>
      listExported(tx, workspace_id, run.run_id, status, from, ROWS_AT_ONCE),
    )
    if (rows.length === 0) return
    const page: JsonObject[] = []
    for (const row of rows) page.push(await recordOf(options, run, pages, row))
    yield page
    after = rows.at(-1)!.position
  }
}

/**
 * A failed record is stored with its failure. Other records are read from the dataset while it is unchanged since the
 * run.
 */
async function recordOf(
  { blobs }: ExportOptions,
  run: ExportOf,
  pages: Pages | undefined,
  row: ExportedRow,
): Promise<JsonObject> {
  const record =
    row.record ?? (pages === undefined ? null : (JSON.parse(await pages.textAt(row.position)) as JsonObject))
  const result: Json = row.error !== null ? null : row.result_blob ? await readBlob(blobs, row.result_blob) : row.result
  const known = record ?? { position: row.position, ...(row.key !== null && { key: row.key }) }
  return { ...outputRecord(run.columns ?? [], { record: known, result, error: row.error }) }
}

async function* lines(pages: AsyncIterable<JsonObject[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((record) => `${JSON.stringify(record)}\n`).join('')
}

async function* table(pages: AsyncIterable<JsonObject[]>, columns: string[]): AsyncGenerator<string> {
  const names = [...columns.filter((name) => name !== 'result' && name !== 'error'), 'result', 'error']
  yield csvHeader(names)
  for await (const page of pages) yield page.map((record) => `${csvRow(record, names)}\r\n`).join('')
}
