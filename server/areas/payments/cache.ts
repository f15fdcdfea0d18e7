import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { BillingProvider, Customer, Snapshot } from '#providers/billing/index'
import { applyInvoices, applyMethods, applySubscriptions } from './apply.ts'
import * as store from './store.ts'

/** A page that shows billing data older than this reads it again from the provider. */
const OLD_AFTER = 60 * SECOND
/** As OLD_AFTER, while a card is being confirmed in the browser, because the card must appear soon. */
const OLD_WHILE_AWAITING = 2 * SECOND

/** Maintains our copy of the provider's data. The built-in provider has no copy, so there is nothing to do. */
export function makeCache({ db, provider, log }: { db: Database; provider: BillingProvider; log: Logger }) {
  const { name } = provider
  const inWorkspace = <T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.tenant({ workspaceId, userId: null }, work)

  /**
   * Reads the data from the provider. Reads are numbered when they start, and an older read never overwrites a newer
   * one. So the copy ends with the newest data, however webhooks, pages and changes overlap.
   */
  async function refresh(workspaceId: string): Promise<void> {
    if (!provider.cached) return
    const begun = await inWorkspace(workspaceId, (tx) =>
      tx.maybe<{ number: number; customer_id: string; provider_ref: string | null }>(
        `update billing_customers set reads_begun = reads_begun + 1 where workspace_id = $1 and provider = $2
         returning reads_begun as number, customer_id, provider_ref`,
        [workspaceId, name],
      ),
    )
    if (!begun || begun.provider_ref === null) return
    const customer: Customer = { workspaceId, customerId: begun.customer_id, ref: begun.provider_ref }
    const snapshot = await readWithDefault(customer)
    await inWorkspace(workspaceId, async (tx) => {
      const newer = await tx.count(
        `update billing_customers set read_applied = $3, synced_at = now()
         where workspace_id = $1 and provider = $2 and read_applied < $3`,
        [workspaceId, name, begun.number],
      )
      if (newer === 0) return
      if (snapshot) await apply(tx, workspaceId, snapshot)
      else await forget(tx, workspaceId)
    })
  }

  /**
   * Sets a default method if there is none: Stripe allows customers with cards but no default, here exactly one is
   * required.
   */
  async function readWithDefault(customer: Customer): Promise<Snapshot | undefined> {
    const snapshot = await provider.read(customer)
    if (!snapshot || snapshot.methods.length === 0 || snapshot.methods.some((method) => method.is_default))
      return snapshot
    await provider.setDefaultMethod(customer, snapshot.methods[0]!.ref, newId())
    return provider.read(customer)
  }

  async function apply(tx: Tx, workspaceId: string, snapshot: Snapshot): Promise<void> {
    const place = { workspaceId, provider: name }
    await applyMethods(tx, place, snapshot.methods)
    const extra = await applySubscriptions(tx, place, snapshot.subscriptions)
    if (extra.length > 0)
      log.error({ workspace_id: workspaceId, subscriptions: extra }, 'more than one live subscription at the provider')
    await applyInvoices(tx, place, snapshot.invoices)
  }

  /** Clears the copy after the customer was deleted at the provider, because the customer can no longer be charged. */
  async function forget(tx: Tx, workspaceId: string): Promise<void> {
    await apply(tx, workspaceId, { methods: [], subscriptions: [], invoices: [] })
    await tx.count(
      `update billing_customers set provider_ref = null, attempt = attempt + 1, attempt_request = null
       where workspace_id = $1 and provider = $2`,
      [workspaceId, name],
    )
  }

  /** Refreshes in progress, by workspace. Concurrent readers wait for the same refresh. */
  const looking = new Map<string, Promise<void>>()
  const lookOnce = (workspaceId: string): Promise<void> => {
    const present = looking.get(workspaceId)
    if (present) return present
    const look = refresh(workspaceId).finally(() => looking.delete(workspaceId))
    looking.set(workspaceId, look)
    return look
  }

  return {
    refresh,

    /** Refreshes an old copy before a read. If the provider is unavailable, the read shows the old copy. */
    async refreshIfOld(workspaceId: string): Promise<void> {
      if (!provider.cached) return
      const age = await inWorkspace(workspaceId, async (tx) => {
        const customer = await store.findCustomer(tx, workspaceId, name)
        if (!customer || customer.provider_ref === null) return null
        const most = (await store.awaitsCard(tx, workspaceId, name)) ? OLD_WHILE_AWAITING : OLD_AFTER
        return { synced: customer.synced_at?.getTime() ?? 0, most }
      })
      if (age === null || Date.now() - age.synced < age.most) return
      try {
        await lookOnce(workspaceId)
      } catch (error) {
        if (!isProblem(error, 'provider_unavailable') && !isProblem(error, 'provider_not_configured')) throw error
        log.warn({ err: error, workspace_id: workspaceId }, 'billing data could not be read again')
      }
    },
  }
}

export type Cache = ReturnType<typeof makeCache>
