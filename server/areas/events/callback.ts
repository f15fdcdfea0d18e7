import { createHash } from 'node:crypto'
import { readContent } from '#areas/webhooks/request'
import { validateInTurn } from '#engine/checking'
import type { Json } from '#model/definition'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { newId } from '#platform/ids'
import type { CallbackAddresses } from './callback-address.ts'
import { requireKeptCapacity } from './kept-limits.ts'
import { type CallbackTaken, MAX_KEEP_S } from './schema.ts'
import * as store from './store.ts'
import { endWait, receivedOf, type WaitParts } from './waits.ts'

export type CallbackParts = WaitParts & { addresses: CallbackAddresses }

const used = () => problem('not_waiting', 'This address can be used only once, and it has already been used.')

/**
 * Handles a call of a callback address. The data is the body of a POST or the query of a GET. A call before the node
 * waits is kept for the node; a second call is refused.
 */
export async function callBack(
  parts: CallbackParts,
  ctx: Context,
  { callback, body }: { callback: string; body?: Buffer },
  { request }: Exchange,
): Promise<CallbackTaken> {
  const called = parts.addresses.read(callback)
  if (!called) throw problem('not_found')
  const { workspaceId, executionId, callbackHash } = called
  const content = await readContent(request, body ?? Buffer.alloc(0), ctx.config.HEDDLE_MAX_JSON_DEPTH)
  const data: Json = request.method === 'GET' ? content.query : (content.body ?? content.query)
  return parts.db.tenant({ workspaceId, userId: null }, async (tx) => {
    if (!(await store.isUnderWay(tx, workspaceId, executionId)))
      throw problem('already_finished', 'The execution that waited for this has ended.')
    await store.lockKey(tx, workspaceId, `${executionId}:${callbackHash.toString('hex')}`, false)
    const wait = await store.lockByCallback(tx, workspaceId, executionId, callbackHash)
    if (wait && wait.status !== 'open') throw used()
    const eventId = newId()
    if (wait) {
      const issues = await validateInTurn(parts.turns, workspaceId, wait.schema, data)
      if (issues.length > 0)
        throw invalid(
          issues.slice(0, 50),
          'The data does not match the schema that the workflow waits for. The address can still be used.',
        )
      const ended = { status: 'received' as const, output: receivedOf({ event_id: eventId, data }), eventId }
      endWait(parts, tx, wait, ended, true)
      return { status: 'received' }
    }
    await requireKeptCapacity(tx, workspaceId)
    const kept = await store.insertIncoming(tx, workspaceId, {
      event_id: eventId,
      id_hash: createHash('sha256').update(`callback:${callback}`).digest(),
      execution_id: executionId,
      callback_hash: callbackHash,
      data,
      keep_s: MAX_KEEP_S,
    })
    if (!kept) throw used()
    return { status: 'kept' }
  })
}
