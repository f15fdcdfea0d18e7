import type { Tx } from '#platform/db/pool'
import { notifySubscriptionChanged } from '../events.ts'
import { nextAttemptAfter, withTerms } from './bill.ts'
import {
  closeOpenInvoices,
  collect,
  discountAt,
  findActiveSubscription,
  findOpenInvoice,
  findPlan,
  issueInvoice,
  type LedgerCustomer,
  type LedgerSubscription,
  priceLine,
  saveSubscription,
} from './ledger.ts'
import { periodEndAfter } from './periods.ts'
import { endWithUsage } from './subscriptions.ts'
import { markInvoiced, usageLines } from './usage.ts'

/**
 * The maximum number of periods processed in one call. A ledger with more overdue periods continues at the next tick.
 */
const MAX_STEPS = 50

/**
 * Brings one customer's ledger up to `now`. Each step is dated at the time it was due, not at the time it is processed,
 * so a server that was down for a month writes the same invoices as a server that was not.
 */
export async function bringUpToDate(tx: Tx, customer: LedgerCustomer, now: Date): Promise<number> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const subscription = await findActiveSubscription(tx, customer.workspace_id)
    if (!subscription) return steps
    const due = subscription.status === 'past_due' ? subscription.next_attempt_at : subscription.current_period_end
    if (due === null || due > now) return steps
    if (subscription.status === 'past_due') await tryAgain(tx, customer, subscription, due)
    else if (subscription.cancel_at_period_end) await endWithUsage(tx, customer, subscription, due)
    else await renew(tx, customer, subscription, due)
  }
  return MAX_STEPS
}

async function renew(tx: Tx, customer: LedgerCustomer, subscription: LedgerSubscription, at: Date): Promise<void> {
  const plan = await findPlan(tx, subscription.plan_id)
  const until = periodEndAfter(subscription.anchor_at, plan.interval, at)
  const renewed: LedgerSubscription = {
    ...subscription,
    status: 'active',
    current_period_start: at,
    current_period_end: until,
  }
  const used = await usageLines(tx, customer, { subscription, plan, until: at })
  const invoice = await issueInvoice(tx, customer, {
    subscription,
    // A coupon reduces only the price of the plan. Usage is charged in full. Price and usage are both taxed.
    lines: withTerms(
      [
        ...withTerms([priceLine(plan, at, until)], { discount: discountAt(subscription, at), tax: null }),
        ...used.lines,
      ],
      { discount: null, tax: plan.tax },
    ),
    currency: plan.currency,
    start: at,
    end: until,
    at,
  })
  await markInvoiced(tx, customer.workspace_id, invoice.invoice_id, used.charges)
  if ((await collect(tx, invoice)) !== 'paid') {
    renewed.status = 'past_due'
    renewed.first_failed_at = at
    renewed.next_attempt_at = nextAttemptAfter(at, at) ?? null
  }
  await saveSubscription(tx, renewed)
  if (renewed.status !== subscription.status) await notifySubscriptionChanged(tx, customer.workspace_id, renewed)
}

async function tryAgain(tx: Tx, customer: LedgerCustomer, subscription: LedgerSubscription, at: Date): Promise<void> {
  const invoice = await findOpenInvoice(tx, subscription)
  if (!invoice || (await collect(tx, invoice)) === 'paid') {
    const active: LedgerSubscription = {
      ...subscription,
      status: 'active',
      first_failed_at: null,
      next_attempt_at: null,
    }
    await saveSubscription(tx, active)
    await notifySubscriptionChanged(tx, subscription.workspace_id, active)
    return
  }
  const next = nextAttemptAfter(subscription.first_failed_at!, at)
  if (next !== undefined) {
    await saveSubscription(tx, { ...subscription, next_attempt_at: next })
    return
  }
  await closeOpenInvoices(tx, subscription, 'uncollectible')
  await endWithUsage(tx, customer, subscription, at)
}
