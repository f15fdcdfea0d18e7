import { type Clock, DAY, HOUR, MINUTE } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Builtin } from '#providers/billing/builtin/builtin'
import type { StripeProvider } from '#providers/billing/stripe/stripe'
import type { Cache } from './cache.ts'
import { reportUsage } from './charges.ts'

const nobody = { workspaceId: null, userId: null }
const TICK = 1 * MINUTE
const BATCH = 100
/** With Stripe: the age after which a copy that no webhook has refreshed is compared with Stripe again. */
const COMPARE_AFTER = 6 * HOUR
const COMPARE_AT_ONCE = 20
const EVENTS_KEPT_FOR = 30 * DAY

export type ClockParts = {
  db: Database
  log: Logger
  clock: Clock
  cache: Cache
  builtin: Builtin | null
  stripe: StripeProvider | null
}

/**
 * Renews and duns the subscriptions of the built-in ledger. With Stripe, which does both itself, repairs what webhooks
 * missed.
 */
export function makeBillingClock({ db, log, clock, cache, builtin, stripe }: ClockParts) {
  /** Runs `work` for each id. A failure is logged and does not stop the others. Returns the number of successes. */
  async function each(ids: string[], what: string, work: (id: string) => Promise<unknown>): Promise<number> {
    let done = 0
    for (const id of ids) {
      try {
        await work(id)
        done++
      } catch (error) {
        log.error({ err: error, id }, what)
      }
    }
    return done
  }

  const find = (sql: string, values: unknown[]): Promise<string[]> =>
    db.tenant(nobody, async (tx) => (await tx.rows<{ id: string }>(sql, values)).map(({ id }) => id))

  async function renewLedgers(ledger: Builtin, now: Date): Promise<number> {
    let total = 0
    for (;;) {
      const due = await find('select billing_due($1, $2) as id', [now, BATCH])
      const done = await each(due, 'a subscription could not be renewed', (id) => ledger.bringUpToDate(id, now))
      total += done
      if (done === 0 || due.length < BATCH) return total
    }
  }

  async function repairCopies(provider: StripeProvider, now: Date): Promise<number> {
    const unreported = await find(`select unreported_charges('stripe', $1) as id`, [BATCH])
    await each(unreported, 'usage could not be reported to Stripe', (id) => reportUsage(db, provider, id))
    const stale = await find(`select billing_stale('stripe', $1, $2) as id`, [
      new Date(now.getTime() - COMPARE_AFTER),
      COMPARE_AT_ONCE,
    ])
    const repaired = await each(stale, 'billing data could not be compared with Stripe', cache.refresh)
    const orphans = await find(`select provider_ref as id from billing_orphans where provider = 'stripe' limit $1`, [
      BATCH,
    ])
    await each(orphans, 'the subscription of a deleted workspace could not be ended', async (ref) => {
      await provider.endOrphan(ref)
      await db.tenant(nobody, (tx) =>
        tx.count(`delete from billing_orphans where provider = 'stripe' and provider_ref = $1`, [ref]),
      )
    })
    await db.tenant(nobody, (tx) =>
      tx.count('delete from billing_events where received_at < $1', [new Date(now.getTime() - EVENTS_KEPT_FOR)]),
    )
    return repaired
  }

  /** Returns the number of workspaces that were processed. Only one server runs at a time; the others return 0. */
  const runBillingClock = (now: Date): Promise<number> =>
    db.tenant(nobody, async (tx) => {
      const { leader } = await tx.row<{ leader: boolean }>(
        `select pg_try_advisory_xact_lock(hashtext('billing clock')) as leader`,
      )
      if (!leader) return 0
      return (builtin ? await renewLedgers(builtin, now) : 0) + (stripe ? await repairCopies(stripe, now) : 0)
    })

  return {
    runBillingClock,

    /** Runs every minute until it is stopped. */
    start(): () => Promise<void> {
      let running: Promise<unknown> = Promise.resolve()
      const tick = (): void => {
        running = runBillingClock(clock.now()).catch((error: unknown) =>
          log.error({ err: error }, 'the billing clock failed; it is tried again at the next tick'),
        )
      }
      const timer = setInterval(tick, TICK)
      timer.unref()
      return async () => {
        clearInterval(timer)
        await running
      }
    },
  }
}
