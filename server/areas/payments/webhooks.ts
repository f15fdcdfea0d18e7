import type { Database } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import type { WebhookReader } from '#providers/billing/index'
import type { Cache } from './cache.ts'
import type { Quotas } from './quotas.ts'

const nobody = { workspaceId: null, userId: null }

/**
 * A webhook only signals that a customer has changed; the current state is then read from Stripe. So the order, number
 * and content of webhooks do not matter.
 */
export function makeWebhooks({
  db,
  cache,
  quotas,
  read,
}: {
  db: Database
  cache: Cache
  quotas: Quotas
  read: WebhookReader
}) {
  const seen = (id: string): Promise<number> =>
    db.tenant(nobody, (tx) => tx.count(`select from billing_events where provider = 'stripe' and event_id = $1`, [id]))

  const note = (id: string): Promise<number> =>
    db.tenant(nobody, (tx) =>
      tx.count(`insert into billing_events (provider, event_id) values ('stripe', $1) on conflict do nothing`, [id]),
    )

  const workspaceOf = (customerRef: string): Promise<string | null> =>
    db.tenant(nobody, async (tx) => {
      const row = await tx.row<{ id: string | null }>(`select billing_workspace_of('stripe', $1) as id`, [customerRef])
      return row.id
    })

  return {
    async receive(_ctx: Context, { body }: { body: Buffer }, { request }: Exchange): Promise<{ received: true }> {
      const header = request.headers['stripe-signature']
      const event = await read(body, typeof header === 'string' ? header : undefined)
      if ((await seen(event.id)) > 0) return { received: true }
      // An event of a customer that is not ours (another installation on the same account) is ignored.
      const workspaceId = event.customerRef === null ? null : await workspaceOf(event.customerRef)
      if (workspaceId !== null) {
        await cache.refresh(workspaceId)
        quotas.forget(workspaceId)
      }
      await note(event.id)
      return { received: true }
    },
  }
}
