import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Database } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { readChunks } from './reading.ts'
import { commas } from './writing.ts'

/**
 * Sends a stream and waits until it is sent. A response that fails in the middle is cut off, so that it never looks
 * complete.
 */
async function send(
  { reply }: Exchange,
  headers: Record<string, string>,
  parts: AsyncIterable<Buffer | string>,
): Promise<void> {
  const stream = Readable.from(parts, { objectMode: false, highWaterMark: 256 << 10 })
  const gone = finished(reply.raw).catch(() => {})
  reply.headers({ 'cache-control': 'no-store', ...headers }).send(stream)
  await gone
}

export const sendJson = (
  ctx: Context,
  exchange: Exchange,
  dataset: { summary: Record<string, unknown>; versionId: string; count: number; etag: string },
): Promise<void> =>
  send(
    exchange,
    { 'content-type': 'application/json; charset=utf-8', etag: dataset.etag },
    withRecords(ctx.db, ctx.workspace.workspace_id, dataset),
  )

/** Streams `{…summary, "records": [ … ]}` with the stored text of the records. */
async function* withRecords(
  db: Database,
  workspaceId: string,
  dataset: { summary: Record<string, unknown>; versionId: string; count: number },
): AsyncGenerator<Buffer | string> {
  yield `${JSON.stringify(dataset.summary).slice(0, -1)},"records":[`
  for await (const { first, text } of readChunks(db, workspaceId, dataset.versionId, { from: 0, to: dataset.count })) {
    if (first > 0) yield ','
    yield commas(text)
  }
  yield ']}'
}

/** Sends a file with this name. */
export function sendLines(
  exchange: Exchange,
  { name }: { name: string },
  format: 'csv' | 'jsonl',
  parts: AsyncIterable<Buffer | string>,
): Promise<void> {
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8'
  const plain = name.replaceAll(/[^\w .-]/g, '_').slice(0, 100)
  return send(
    exchange,
    {
      'content-type': type,
      'content-disposition': `attachment; filename="${plain}.${format}"; filename*=UTF-8''${encodeURIComponent(name)}.${format}`,
    },
    parts,
  )
}
