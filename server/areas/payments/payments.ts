import { recordAudit } from '#platform/audit'
import { type Clock, systemClock } from '#platform/clock'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import { makeBuiltin } from '#providers/billing/builtin/builtin'
import { connectStripe, makeStripe } from '#providers/billing/stripe/stripe'
import { makeWebhookReader } from '#providers/billing/stripe/webhook'
import { makeAllowances } from './allowances.ts'
import { makeCache } from './cache.ts'
import { makeBillingClock } from './clock.ts'
import { changing, inTransaction } from './customers.ts'
import { makeInvoices } from './invoices.ts'
import { makeLeases } from './lease.ts'
import { makeMethods, paymentAccessLevels } from './methods.ts'
import { makePlans } from './plans.ts'
import { makeQuotas } from './quotas.ts'
import { makeSubscriptions } from './subscriptions.ts'
import { makeWebhooks } from './webhooks.ts'

export type PaymentsOptions = { config: Config; db: Database; vault: Vault; log: Logger; clock?: Clock }

/**
 * Assembles the area: with Stripe if its key is set, otherwise with the built-in ledger. Other areas check and count
 * with `quotas`.
 */
export function makePayments({ config, db, vault, log, clock = systemClock }: PaymentsOptions) {
  const connection =
    config.STRIPE_SECRET_KEY === null
      ? null
      : connectStripe({ secretKey: config.STRIPE_SECRET_KEY, apiBase: config.STRIPE_API_BASE })
  const stripe = connection && makeStripe(connection)
  const builtin = stripe ? null : makeBuiltin({ db, vault, clock })
  const provider = stripe ?? builtin!
  const cache = makeCache({ db, provider, log })
  const parts = { provider, cache, leases: makeLeases(db, provider.name) }
  const publishableKey = stripe ? config.STRIPE_PUBLISHABLE_KEY : null
  const quotas = makeQuotas({ db, provider: provider.name })
  const allowances = makeAllowances({
    db,
    log,
    quotasOf: quotas.quotasOf,
    cpuSecondsPerMinute: config.HEDDLE_CPU_S_PER_MINUTE,
  })

  return {
    invoices: makeInvoices({ ...parts, vault }),
    methods: makeMethods({ ...parts, publishableKey }),
    plans: makePlans(),
    subscriptions: makeSubscriptions({ ...parts, quotas, publishableKey }),
    quotas,
    allowances,
    webhooks: makeWebhooks({
      db,
      cache,
      quotas,
      read: makeWebhookReader(connection, config.STRIPE_WEBHOOK_SECRET),
    }),
    testClock: {
      async move(ctx: Context, { now }: { now: Date }): Promise<{ now: Date }> {
        if (!builtin) throw problem('conflict', 'Stripe keeps its own time; use a test clock of Stripe.')
        const { workspace_id } = ctx.workspace
        const shown = await changing(ctx, parts, async () => {
          await inTransaction(ctx, (tx) =>
            recordAudit(ctx, tx, {
              action: 'billing.clock_moved',
              subject: toWire('ws', workspace_id),
              data: { now: now.toISOString() },
            }),
          )
          return builtin.moveClock(workspace_id, now)
        })
        quotas.forget(workspace_id)
        return { now: shown }
      },
    },
    clock: makeBillingClock({ db, log, clock, cache, builtin, stripe }),
    accessLevels: paymentAccessLevels(provider.name),
  }
}

export type Payments = ReturnType<typeof makePayments>
