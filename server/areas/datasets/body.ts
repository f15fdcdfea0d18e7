import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { blocksOf, checkLength, discardRest, hasBody, isJson } from '#platform/http/upload'
import type { Parsed } from './parsing/parse.ts'
import type { ParserThreads } from './parsing/thread.ts'
import type { Draft } from './writing.ts'

/**
 * Reads the JSON body of a create or replace request. Stores its records in the draft as they arrive, and returns the
 * other fields.
 */
export async function readBody(
  threads: ParserThreads,
  ctx: Context,
  exchange: Exchange,
  draft: Draft,
): Promise<Parsed> {
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
    signal: ctx.stepAside(),
  })
}

/** Answers a refused upload at once, and discards the rest of its body. */
export async function refusing<T>(
  exchange: Exchange,
  explain: (error: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    discardRest(exchange)
    // The body is already consumed, so a retry by the kernel would find no body.
    const { code } = error as { code?: string }
    if (code === '40P01' || code === '40001')
      throw problem('unavailable', 'Another request changed the same data at the same time. Send it again.', {
        retryAfterS: 1,
      })
    throw explain(error)
  }
}
