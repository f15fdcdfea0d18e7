import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import type { OffReason } from './schema.ts'
import { claimOffNotice, listRecipients } from './store.ts'

export const offMessages: Record<OffReason, string> = {
  manual: 'It was switched off by hand.',
  owner_left: 'The person it acted for has left the workspace. Anyone who switches it on takes their place.',
  no_access: 'The person it acts for may no longer see the workflow, or the workflow was deleted.',
  failing: 'The receiver accepted nothing for three days.',
  gone: 'The receiver answered 410: it accepts no more events.',
  too_many: 'Too many events are waiting. The receiver accepts them too slowly.',
}

/** Notifies people once, by the first process that runs this. */
export async function notifySwitchedOff(tx: Tx, workspaceId: string, destinationId: string): Promise<void> {
  const off = await claimOffNotice(tx, workspaceId, destinationId)
  if (!off) return
  const id = toWire('dest', destinationId)
  await deliverEvent(tx, {
    workspaceId,
    kind: 'destination.switched_off',
    title: `Events are no longer sent to ${new URL(off.url).host}`,
    body: offMessages[off.off_reason],
    data: { destination_id: id, reason: off.off_reason },
    link: `/destinations/${id}`,
    to: await listRecipients(tx, workspaceId, off.owner_id),
  })
}
