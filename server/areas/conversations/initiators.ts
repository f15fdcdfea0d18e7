import { personInitiator } from '#engine/initiators'
import type { Initiator } from '#engine/ports'
import type { Tx } from '#platform/db/pool'
import { fromWire, toWire } from '#platform/ids'
import type { Offer } from './offer-store.ts'
import type { Held } from './thread-store.ts'
import type { Author, Origin } from './types.ts'

/**
 * Who and what led to an execution that a conversation starts: the person who talks, or who made the token or the channel
 * through which somebody outside talks; and who added the workflow to the template.
 */
export async function initiatorsOfTurn(
  tx: Tx,
  held: Held,
  offer: Offer,
  { author, origin }: { author: Author; origin: Origin },
): Promise<Initiator[]> {
  const talking = author.kind === 'person' ? [personInitiator(author.userId)] : await peopleBehind(tx, held, origin)
  if (offer.added_by === null || held.template_id === null) return talking
  return [...talking, { kind: 'template', id: toWire('tmpl', held.template_id), user_id: offer.added_by }]
}

async function peopleBehind(tx: Tx, { workspace_id }: Held, { kind, id }: Origin): Promise<Initiator[]> {
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
