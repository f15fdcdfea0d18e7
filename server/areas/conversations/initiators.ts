import { personInitiator } from '#engine/initiators'
import type { Initiator } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { fromWire, toWire } from '#platform/ids'
import type { Offer } from './offer-store.ts'
import type { LockedThread } from './thread-store.ts'
import type { Author, Origin } from './types.ts'

/**
 * Returns who and what led to an execution that a conversation starts: the person who writes, or the person who
 * created the token or channel that a visitor uses; and the person who added the workflow to the template.
 */
export async function initiatorsOfTurn(
  tx: Tx,
  thread: LockedThread,
  offer: Offer,
  { author, origin }: { author: Author; origin: Origin },
): Promise<Initiator[]> {
  const talking = author.kind === 'person' ? [personInitiator(author.userId)] : await peopleBehind(tx, thread, origin)
  if (offer.added_by === null || thread.template_id === null) return talking
  return [...talking, { kind: 'template', id: toWire('tmpl', thread.template_id), user_id: offer.added_by }]
}

async function peopleBehind(tx: Tx, { workspace_id }: LockedThread, { kind, id }: Origin): Promise<Initiator[]> {
  if (kind === 'embed') {
    const token = await tx.maybe<{ created_by: string | null }>(
      'select created_by from embed_tokens where workspace_id = $1 and token_id = $2',
      [workspace_id, fromWire('emb', id ?? '')],
    )
    return [{ kind: 'embed_token', id, user_id: token?.created_by ?? null }]
  }
  if (kind !== 'channel') return []
  const config = await tx.maybe<{ created_by: string | null; changed_by: string | null }>(
    'select created_by, changed_by from gateway_channels where workspace_id = $1 and config_id = $2',
    [workspace_id, fromWire('chan', id ?? '')],
  )
  const people = new Set([config?.changed_by ?? null, config?.created_by ?? null])
  if (people.size > 1) people.delete(null)
  return [...people].map((user_id) => ({ kind: 'channel', id, user_id }))
}
