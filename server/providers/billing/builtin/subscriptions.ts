import { DAY } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { newId } from '#platform/ids'
import { notifySubscriptionChanged } from '../events.ts'
import type { BillingPlan, InvoiceLine, Order } from '../index.ts'
import { remainingShare } from '../money.ts'
import { withTerms } from './bill.ts'
import {
  closeOpenInvoices,
  collect,
  discountAt,
  findActiveSubscription,
  findOpenInvoice,
  findPlan,
  insertSubscription,
  issueInvoice,
  type LedgerCustomer,
  type LedgerDiscount,
  type LedgerInvoice,
  type LedgerSubscription,
  lockPlan,
  priceLine,
  saveSubscription,
} from './ledger.ts'
import { periodEndAfter } from './periods.ts'
import { markInvoiced, usageLines } from './usage.ts'

// Changes that a customer requests. Each change runs in one transaction: a failed payment throws and rolls everything
// back.

async function collectOrRefuse(tx: Tx, invoice: LedgerInvoice): Promise<void> {
  switch (await collect(tx, invoice)) {
    case 'paid':
      return
    case 'no_method':
      throw problem('payment_method_required', 'Add a card to the workspace first.')
    case 'declined':
      throw problem('card_declined', 'The default card was declined. Make another one the default and try again.')
  }
}

export async function subscribe(tx: Tx, customer: LedgerCustomer, order: Order, at: Date): Promise<void> {
  const live = await findActiveSubscription(tx, customer.workspace_id)
  if (live?.request_key === order.requestKey) return
  if (live) throw problem('subscription_exists', 'Change it with PATCH /api/payments/subscriptions/me.')
  const { trialDays } = order
  // The plan is locked until the commit: no one can change its price or delete it while the subscription is created.
  const plan = await lockPlan(tx, order.plan.plan_id)
  const end = trialDays > 0 ? new Date(at.getTime() + trialDays * DAY) : periodEndAfter(at, plan.interval, at)
  // Paid periods are counted from the end of the trial.
  const anchor = trialDays > 0 ? end : at
  const { discount } = order
  const subscription = await insertSubscription(tx, {
    workspace_id: customer.workspace_id,
    subscription_id: newId(),
    plan_id: plan.plan_id,
    status: trialDays > 0 ? 'trialing' : 'active',
    anchor_at: anchor,
    current_period_start: at,
    current_period_end: end,
    request_key: order.requestKey,
    created_at: at,
    discount: discount && {
      code: discount.code,
      percent_off: discount.percent_off,
      until: discount.duration === 'forever' ? null : periodEndAfter(anchor, plan.interval, anchor).toISOString(),
    },
  })
  // A customer gets one trial only, even after a cancellation.
  if (trialDays > 0)
    await tx.count(`update billing_customers set trial_used = true where workspace_id = $1 and provider = 'builtin'`, [
      customer.workspace_id,
    ])
  const lines: InvoiceLine[] = [
    trialDays > 0
      ? { ...priceLine(plan, at, end), description: `${plan.name}, trial`, amount: 0 }
      : priceLine(plan, at, end),
  ]
  const terms = { discount, tax: plan.tax }
  const invoice = await issueInvoice(tx, customer, {
    subscription,
    lines: withTerms(lines, terms),
    currency: plan.currency,
    start: at,
    end,
    at,
  })
  await collectOrRefuse(tx, invoice)
  await notifySubscriptionChanged(tx, customer.workspace_id, subscription)
}

export async function changePlan(tx: Tx, customer: LedgerCustomer, to: BillingPlan, at: Date): Promise<void> {
  const subscription = await requireLive(tx, customer)
  if (subscription.plan_id === to.plan_id) return
  const from = await findPlan(tx, subscription.plan_id)
  if (from.currency !== to.currency)
    throw problem('conflict', 'The new plan is in another currency; let this subscription end, then subscribe again.')
  if (subscription.status === 'past_due')
    throw problem('conflict', 'An invoice is open. Make a working card the default, then change the plan.')
  const changed: LedgerSubscription = { ...subscription, plan_id: to.plan_id, discount: null }
  const discount = discountAt(subscription, subscription.current_period_start)
  if (subscription.status === 'active') await invoiceChange(tx, customer, changed, { ...from, discount }, to, at)
  await saveSubscription(tx, changed)
  await notifySubscriptionChanged(tx, customer.workspace_id, changed)
}

/**
 * Credits the unused part of the old price and charges the new price: for the rest of the period, or for a whole new
 * period if the interval changes.
 */
async function invoiceChange(
  tx: Tx,
  customer: LedgerCustomer,
  changed: LedgerSubscription,
  from: BillingPlan & { discount: LedgerDiscount | null },
  to: BillingPlan,
  at: Date,
): Promise<void> {
  const { current_period_start: start, current_period_end: end } = changed
  const line = (description: string, amount: number, until: Date): InvoiceLine => ({
    description,
    amount,
    quantity: 1,
    proration: true,
    period_start: at.toISOString(),
    period_end: until.toISOString(),
  })
  const used = await usageLines(tx, customer, { subscription: changed, plan: from, until: at })
  const unused = line(`Unused time on ${from.name}`, -remainingShare(from.amount, at, start, end), end)
  const old = [...used.lines, ...withTerms([unused], { discount: from.discount, tax: null })]
  const lines: InvoiceLine[] = []
  if (from.interval === to.interval) {
    lines.push(line(`Remaining time on ${to.name}`, remainingShare(to.amount, at, start, end), end))
  } else {
    changed.anchor_at = at
    changed.current_period_start = at
    changed.current_period_end = periodEndAfter(at, to.interval, at)
    lines.push(priceLine(to, at, changed.current_period_end))
  }
  const invoice = await issueInvoice(tx, customer, {
    subscription: changed,
    // The credit includes the coupon and the tax with which the old price was paid.
    lines: [...withTerms(old, { discount: null, tax: from.tax }), ...withTerms(lines, { discount: null, tax: to.tax })],
    currency: to.currency,
    start: at,
    end: changed.current_period_end,
    at,
  })
  await markInvoiced(tx, customer.workspace_id, invoice.invoice_id, used.charges)
  await collectOrRefuse(tx, invoice)
}

export async function cancel(tx: Tx, customer: LedgerCustomer, when: 'period_end' | 'now', at: Date): Promise<void> {
  const subscription = await requireLive(tx, customer)
  if (when === 'now') {
    await closeOpenInvoices(tx, subscription, 'void')
    await endWithUsage(tx, customer, subscription, at)
    return
  }
  if (subscription.cancel_at_period_end) return
  const changed = { ...subscription, cancel_at_period_end: true }
  await saveSubscription(tx, changed)
  await notifySubscriptionChanged(tx, customer.workspace_id, changed)
}

export async function resume(tx: Tx, customer: LedgerCustomer): Promise<void> {
  const subscription = await requireLive(tx, customer)
  if (!subscription.cancel_at_period_end) return
  const changed = { ...subscription, cancel_at_period_end: false }
  await saveSubscription(tx, changed)
  await notifySubscriptionChanged(tx, customer.workspace_id, changed)
}

/**
 * Ends a subscription and charges the usage up to its end with a last invoice. If that payment fails, it is not
 * retried.
 */
export async function endWithUsage(
  tx: Tx,
  customer: LedgerCustomer,
  subscription: LedgerSubscription,
  at: Date,
): Promise<void> {
  const plan = await findPlan(tx, subscription.plan_id)
  const { lines, charges } = await usageLines(tx, customer, { subscription, plan, until: at })
  if (lines.some(({ amount }) => amount > 0)) {
    const start = subscription.current_period_start
    const invoice = await issueInvoice(tx, customer, {
      subscription,
      lines: withTerms(lines, { discount: null, tax: plan.tax }),
      currency: plan.currency,
      start,
      end: at,
      at,
    })
    await markInvoiced(tx, customer.workspace_id, invoice.invoice_id, charges)
    if ((await collect(tx, invoice)) !== 'paid') await closeOpenInvoices(tx, subscription, 'uncollectible')
  }
  await end(tx, subscription, at)
}

async function end(tx: Tx, subscription: LedgerSubscription, at: Date): Promise<void> {
  const ended: LedgerSubscription = { ...subscription, status: 'cancelled', next_attempt_at: null }
  await saveSubscription(tx, ended, at)
  await notifySubscriptionChanged(tx, subscription.workspace_id, ended)
}

/** Charges the open invoice to the new default card at once, without waiting for the next attempt. */
export async function payOpenInvoice(tx: Tx, customer: LedgerCustomer): Promise<void> {
  const subscription = await findActiveSubscription(tx, customer.workspace_id)
  if (subscription?.status !== 'past_due') return
  const invoice = await findOpenInvoice(tx, subscription)
  if (!invoice || (await collect(tx, invoice)) !== 'paid') return
  const changed: LedgerSubscription = {
    ...subscription,
    status: 'active',
    first_failed_at: null,
    next_attempt_at: null,
  }
  await saveSubscription(tx, changed)
  await notifySubscriptionChanged(tx, customer.workspace_id, changed)
}

async function requireLive(tx: Tx, customer: LedgerCustomer): Promise<LedgerSubscription> {
  const subscription = await findActiveSubscription(tx, customer.workspace_id)
  if (!subscription) throw problem('no_subscription')
  return subscription
}
