import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Start } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { ExpressionFailure, resolveValue } from '#model/expressions'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { InboundToken } from './inbound-token.ts'

// Repeated deliveries. A sender that received no response sends again, sometimes with another body. The sender's id
// identifies the delivery.

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * The limits of an expression, which is evaluated while its sender waits: 1.5 ms at most. An id has at most a few
 * hundred characters.
 */
const MAX_STEPS = 50_000
const MAX_SIZE = 4_096

/** Returns undefined if the expression fails for this delivery. */
function computed(from: { $cel: string }, input: JsonObject): Json | undefined {
  try {
    return resolveValue(from, { input, nodes: {}, execution: {} }, { steps: MAX_STEPS, size: MAX_SIZE })
  } catch (error) {
    if (error instanceof ExpressionFailure) return undefined
    throw error
  }
}

/** Returns the sender's id of this delivery, or undefined if there is none. Then every call counts. */
function keyOf({ dedupe }: InboundToken, headers: FastifyRequest['headers'], input: JsonObject): string | undefined {
  if (dedupe === null) return undefined
  const { from } = dedupe
  const found = typeof from === 'string' ? headers[from.toLowerCase()] : computed(from, input)
  if (typeof found === 'number' || (typeof found === 'string' && found !== '')) return String(found)
  return undefined
}

/**
 * Stores one row per delivery, with the key of the start. A repeated delivery gets the same key, and so the same
 * execution.
 */
export async function dedupeKey(
  db: Database,
  token: InboundToken,
  headers: FastifyRequest['headers'],
  input: JsonObject,
): Promise<Start['idempotency'] | undefined> {
  const key = keyOf(token, headers, input)
  if (key === undefined || token.dedupe === null) return undefined
  const { workspace_id, token_id, dedupe } = token
  const { start_key } = await db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
    await tx.count(
      `delete from webhook_seen where workspace_id = $1 and token_id = $2 and key_hash in (
         select key_hash from webhook_seen where workspace_id = $1 and token_id = $2 and seen_at < now() - interval '1 day'
         order by seen_at limit 10 for update skip locked)`,
      [workspace_id, token_id],
    )
    return tx.row<{ start_key: string }>(
      `insert into webhook_seen as s (workspace_id, token_id, key_hash, start_key) values ($1, $2, $3, $4)
       on conflict (workspace_id, token_id, key_hash) do update set
         start_key = case when s.seen_at <= now() - make_interval(secs => $5) then excluded.start_key else s.start_key end,
         seen_at = case when s.seen_at <= now() - make_interval(secs => $5) then now() else s.seen_at end
       returning start_key`,
      [workspace_id, token_id, sha256(key), newId(), dedupe.window_s],
    )
  })
  return { credentialHash: sha256(`webhook:${token_id}`), keyHash: sha256(start_key), bodySha256: sha256('') }
}
