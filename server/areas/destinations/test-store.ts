import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Loaded } from './deliveries-store.ts'

type At = { workspace_id: string; destination_id: string; delivery_id: string }

/**
 * Inserts a pending delivery that no dispatcher takes, so that only the caller sends it. Works while the destination
 * is disabled.
 */
export async function insertTest(tx: Tx, at: At, userId: string): Promise<Loaded | undefined> {
  const data = { destination_id: toWire('dest', at.destination_id), sent_by: toWire('usr', userId) }
  const found = await tx.maybe<Loaded>(
    `with made as (
       insert into event_deliveries (workspace_id, destination_id, delivery_id, type, event_at, data, head, next_at)
       select $1, $2, $3, 'destination.test', now(), $4, false, 'infinity' from event_destinations d
       where d.workspace_id = $1 and d.destination_id = $2 returning *),
     counted as (update event_destinations set pending = pending + 1 where workspace_id = $1 and destination_id = $2)
     select m.workspace_id, m.destination_id, m.delivery_id, m.type, m.event_at, m.execution_id, m.seq, m.data, m.attempts,
       0::float8 as tried_for_s, d.url, d.credential_id, d.owner_id, d.secret,
       case when d.previous_secret_until > now() then d.previous_secret end as previous_secret, true as visible,
       null as workflow_id, null as version_id, null as trigger_kind, null as trigger_id, null as started_by, null as created_at
     from made m join event_destinations d on d.workspace_id = m.workspace_id and d.destination_id = m.destination_id`,
    [at.workspace_id, at.destination_id, at.delivery_id, JSON.stringify(data)],
  )
  return found
}
