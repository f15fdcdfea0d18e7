import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { problem } from '#platform/errors'
import type { Exchange } from '#platform/http/route'

/** Streams stored JSON at the speed of the client, so that only a piece of it is in memory. */
export async function sendStoredJson({ reply }: Exchange, json: Readable | string | undefined): Promise<void> {
  if (json === undefined) throw problem('not_found')
  const gone = finished(reply.raw).catch(() => {})
  reply
    .headers({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="output.json"',
      'cache-control': 'no-store',
    })
    .send(json)
  if (json instanceof Readable) await gone
}
