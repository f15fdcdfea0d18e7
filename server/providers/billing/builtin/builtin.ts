import { type Clock, SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isUniqueViolation } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Vault } from '#platform/secrets'
import type { BillingProvider, Customer } from '../index.ts'
import { type LedgerCustomer, lockCustomer } from './ledger.ts'
import { clientSecret, confirmIntent, removeMethod, setDefault } from './methods.ts'
import { readLedger } from './read.ts'
import { bringUpToDate } from './renewal.ts'
import { cancel, changePlan, resume, subscribe } from './subscriptions.ts'

export type Builtin = BillingProvider & {
  /** Renews the subscription and collects due payments of one workspace. */
  bringUpToDate(workspaceId: string, now: Date): Promise<number>
  /** Moves the workspace's own clock forward, never back. Returns the time that the clock then shows. */
  moveClock(workspaceId: string, to: Date): Promise<Date>
}

/** A complete billing provider in our own database: real periods, invoices and dunning, but no real money. */
export function makeBuiltin({ db, vault, clock }: { db: Database; vault: Vault; clock: Clock }): Builtin {
  const key = vault.derive('billing setup intents')

  const inLedger = <T>(
    workspaceId: string,
    work: (tx: Tx, customer: LedgerCustomer, now: Date) => Promise<T>,
  ): Promise<T> =>
    db.tenant({ workspaceId, userId: null }, async (tx) => {
      const customer = await lockCustomer(tx, workspaceId)
      return work(tx, customer, shownTime(clock.now(), customer))
    })

  return {
    name: 'builtin',
    cached: false,
    createCustomer: async ({ workspaceId }) => `builtin_${workspaceId}`,
    createSetupIntent: async (_customer, { id }) => ({ ref: id, client_secret: clientSecret(key, id) }),
    reportUsage: null,
    confirmSetupIntent: (customer, intent) =>
      inLedger(customer.workspaceId, (tx, ledger, now) =>
        confirmIntent(tx, ledger, intent, clientSecret(key, intent.id), now),
      ),
    setDefaultMethod: (customer, ref) => inLedger(customer.workspaceId, (tx, ledger) => setDefault(tx, ledger, ref)),
    removeMethod: (customer, { ref }) => inLedger(customer.workspaceId, (tx, ledger) => removeMethod(tx, ledger, ref)),
    async subscribe(customer, order) {
      try {
        await inLedger(customer.workspaceId, (tx, ledger, now) => subscribe(tx, ledger, order, now))
      } catch (error) {
        if (isUniqueViolation(error, 'one_live_subscription')) throw problem('subscription_exists')
        throw error
      }
    },
    changePlan: (customer, _ref, plan) =>
      inLedger(customer.workspaceId, (tx, ledger, now) => changePlan(tx, ledger, plan, now)),
    cancel: (customer, _ref, when) =>
      inLedger(customer.workspaceId, (tx, ledger, now) => cancel(tx, ledger, when, now)),
    resume: (customer) => inLedger(customer.workspaceId, (tx, ledger) => resume(tx, ledger)),
    read: (customer: Customer) =>
      db.tenant({ workspaceId: customer.workspaceId, userId: null }, (tx) => readLedger(tx, customer.workspaceId)),
    bringUpToDate: (workspaceId, now) =>
      inLedger(workspaceId, (tx, ledger) => bringUpToDate(tx, ledger, shownTime(now, ledger))),
    moveClock: (workspaceId, to) =>
      inLedger(workspaceId, async (tx, ledger, shown) => {
        const ahead = ledger.clock_ahead_s + Math.max(0, Math.round((to.getTime() - shown.getTime()) / SECOND))
        await tx.count(
          `update billing_customers set clock_ahead_s = $2 where workspace_id = $1 and provider = 'builtin'`,
          [workspaceId, ahead],
        )
        const moved = { ...ledger, clock_ahead_s: ahead }
        const now = shownTime(clock.now(), moved)
        await bringUpToDate(tx, moved, now)
        return now
      }),
  }
}

const shownTime = (now: Date, customer: LedgerCustomer): Date =>
  new Date(now.getTime() + customer.clock_ahead_s * SECOND)
