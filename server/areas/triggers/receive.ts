import { queryOf, readContent } from '#areas/webhooks/request'
import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { newId } from '#platform/ids'
import type { Hook, HookAddresses } from './hook-address.ts'
import { challengeOf, deliveryOf, hookFault, isHandshake, withoutProof } from './hook-request.ts'
import * as hooks from './hook-store.ts'
import { answerHandshake, type Called, findCalled, type VendorParts } from './hook-vendor.ts'

// Receives calls of vendors. An event is confirmed after it is stored, so that it cannot be lost.

const MAX_WAITING = 1_000

export type ReceiveParts = VendorParts & { db: Database; addresses: HookAddresses }
type Call = { hook: string; body?: Buffer }

/** Headers that are not stored: events do not need them, and readers of an execution must not see them. */
const NOT_KEPT = /^(cookie|authorization|proxy-authorization)$/i

export async function receiveEvent(parts: ReceiveParts, ctx: Context, call: Call, exchange: Exchange): Promise<void> {
  const { request, reply } = exchange
  const bytes = call.body ?? Buffer.alloc(0)
  const hook = parts.addresses.read(call.hook)
  if (!hook) throw problem('not_found')
  const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    parts.db.tenant({ workspaceId: hook.workspaceId, userId: null }, work)
  const row = await within((tx) => hooks.findHook(tx, hook.workspaceId, hook.triggerId))
  if (!row) throw problem('not_found')
  const standing = standingOf(row, hook.generation)
  if (standing === 'dead') throw problem('not_found')
  const called = await findCalled(parts, within, hook.workspaceId, row)
  if (!called) throw problem('not_found')
  const challenge = called.hook && challengeOf(called.hook, queryOf(request.url))
  if (challenge !== undefined) {
    reply.code(200).header('content-type', 'text/plain; charset=utf-8').send(challenge)
    return
  }
  verify(parts, called, hook, request.headers, bytes)
  const content = await readContent(request, bytes, ctx.config.HEDDLE_MAX_JSON_DEPTH)
  const seen = { headers: request.headers, query: content.query, body: content.body }
  if (called.piece && isHandshake(called.piece.handshake, seen)) {
    const { status, body, type } = await handshake(parts, called, hook, row, payloadOf(seen, content.raw_body))
    const isText = typeof body === 'string'
    reply.code(status).header('content-type', isText ? plainType(type) : 'application/json; charset=utf-8')
    reply.send(isText ? body : JSON.stringify(body))
    return
  }
  if (request.method === 'GET') throw problem('method_not_allowed', 'Events are sent by POST.', { allow: ['POST'] })
  // Some vendors check the address by HEAD. Such a request is no event.
  if (request.method === 'HEAD') return accept(reply)
  if (standing === 'coming') return accept(reply)
  const event = {
    eventId: newId(),
    delivery: deliveryOf(called.hook, seen) ?? null,
    payload: withoutProof(called.hook, payloadOf(seen, content.raw_body)),
  }
  const outcome = await within((tx) => hooks.keepEvent(tx, hook.workspaceId, hook.triggerId, event, MAX_WAITING))
  if (outcome === 'full') throw problem('queue_full', `At most ${MAX_WAITING} events of a trigger can wait.`)
  accept(reply)
}

const accept = (reply: Exchange['reply']): void =>
  void reply.code(200).header('content-type', 'application/json; charset=utf-8').send('{"status":"accepted"}')

/**
 * Determines which registration the call belongs to. While a new registration replaces an old one, the vendor sends
 * each event to both: calls to the old one count until the new one is confirmed.
 */
function standingOf({ registered, generation, confirmed }: hooks.HookRow, calls: string): 'live' | 'coming' | 'dead' {
  const live = registered && generation !== confirmed ? confirmed : generation
  if (calls === live) return 'live'
  return calls === generation ? 'coming' : 'dead'
}

/** Returns only text types: HTML chosen by a vendor or a tenant would run in our origin. */
const plainType = (type: string): string => (/^application\/json/i.test(type) ? type : 'text/plain; charset=utf-8')

function verify(
  { addresses }: ReceiveParts,
  { hook }: Called,
  at: Hook,
  headers: Exchange['request']['headers'],
  body: Buffer,
): void {
  if (!hook) return
  const fault = hookFault(hook, { headers, body, secret: addresses.secretOf(at), now: Date.now() })
  if (fault !== undefined) throw problem('bad_signature', fault)
}

function payloadOf(
  { headers, query, body }: { headers: Exchange['request']['headers']; query: JsonObject; body: Json },
  raw_body: string | null,
): JsonObject {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_KEPT.test(name))
  return { headers: Object.fromEntries(kept) as JsonObject, query, body, raw_body }
}

async function handshake(parts: ReceiveParts, called: Called, hook: Hook, row: hooks.HookRow, payload: JsonObject) {
  const about = {
    workspaceId: hook.workspaceId,
    args: row.args,
    store: row.store,
    credentialId: row.credential_id,
    userId: row.principal_id,
  }
  const { headers = {}, query = {}, body = null, raw_body = null } = payload
  try {
    return await answerHandshake(parts, called, about, { headers, queryParams: query, body, rawBody: raw_body })
  } catch (error) {
    if (error instanceof NodeFailure) throw problem('unavailable', 'The piece did not answer; try again later.')
    throw error
  }
}
