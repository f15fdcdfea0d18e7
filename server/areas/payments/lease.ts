import { setTimeout as wait } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { ProviderName } from '#providers/billing/index'

// Serializes the changes of a customer across all servers, without holding a database connection during calls to the
// provider.

const LEASE_S = 60
const RENEW_EVERY = 20 * SECOND
const WAIT_AT_MOST = 25 * SECOND

export function makeLeases(db: Database, provider: ProviderName) {
  const take = (workspaceId: string, holder: string): Promise<number> =>
    db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.count(
        `update billing_customers set lease = $3, leased_until = now() + make_interval(secs => $4)
         where workspace_id = $1 and provider = $2 and (lease is null or lease = $3 or leased_until < now())`,
        [workspaceId, provider, holder, LEASE_S],
      ),
    )

  const give = (workspaceId: string, holder: string): Promise<number> =>
    db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.count(
        'update billing_customers set lease = null, leased_until = null where workspace_id = $1 and provider = $2 and lease = $3',
        [workspaceId, provider, holder],
      ),
    )

  return {
    /**
     * Runs `work` with the lease. The lease of a dead holder blocks others for a minute, but a repeated request (the
     * same `holder`) continues immediately. If the holder was only slow, the provider's idempotency keys still prevent
     * a double effect.
     */
    async hold<T>(workspaceId: string, holder: string, work: () => Promise<T>): Promise<T> {
      const deadline = performance.now() + WAIT_AT_MOST
      while ((await take(workspaceId, holder)) === 0) {
        if (performance.now() > deadline)
          throw problem('unavailable', 'Another change of the billing data is in progress. Try again.', {
            retryAfterS: 5,
          })
        await wait(20 + Math.random() * 40)
      }
      const renewal = setInterval(() => void take(workspaceId, holder).catch(() => {}), RENEW_EVERY)
      try {
        return await work()
      } finally {
        clearInterval(renewal)
        await give(workspaceId, holder).catch(() => {})
      }
    },
  }
}

export type Leases = ReturnType<typeof makeLeases>
