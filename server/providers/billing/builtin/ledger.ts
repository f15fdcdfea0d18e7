import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { notifyInvoiceFailed, notifyInvoicePaid } from '../events.ts'
import type { BillingPlan, InvoiceLine, SubscriptionStatus } from '../index.ts'
import { billWithCredit } from './bill.ts'

// The rows of the ledger. Code that changes a customer's ledger locks the customer's row, so changes happen one at a
// time.

export const PROVIDER = 'builtin'

export type LedgerCustomer = {
  workspace_id: string
  customer_id: string
  credit: Record<string, number>
  invoice_prefix: string
  clock_ahead_s: number
}

export type LedgerSubscription = {
  workspace_id: string
  subscription_id: string
  plan_id: string
  status: SubscriptionStatus
  anchor_at: Date
  current_period_start: Date
  current_period_end: Date
  cancel_at_period_end: boolean
  first_failed_at: Date | null
  next_attempt_at: Date | null
  request_key: string | null
  discount: LedgerDiscount | null
}

/** `until` is the time at which the discount ends; null means that the discount lasts as long as the plan. */
export type LedgerDiscount = { code: string; percent_off: number; until: string | null }

/** Returns the coupon that applies to a period that starts at `start`. */
export const discountAt = ({ discount }: LedgerSubscription, start: Date): LedgerDiscount | null =>
  discount !== null && (discount.until === null || start < new Date(discount.until)) ? discount : null

export type LedgerInvoice = {
  workspace_id: string
  invoice_id: string
  subscription_id: string
  number: string
  status: string
  amount_due: number
  currency: string
}

export const lockCustomer = (tx: Tx, workspaceId: string): Promise<LedgerCustomer> =>
  tx.row<LedgerCustomer>(
    `select workspace_id, customer_id, credit, invoice_prefix, clock_ahead_s from billing_customers
     where workspace_id = $1 and provider = 'builtin' for update`,
    [workspaceId],
  )

const subscriptionColumns = `workspace_id, subscription_id, plan_id, status, anchor_at, current_period_start, current_period_end,
  cancel_at_period_end, first_failed_at, next_attempt_at, request_key, discount`

export const findActiveSubscription = (tx: Tx, workspaceId: string): Promise<LedgerSubscription | undefined> =>
  tx.maybe<LedgerSubscription>(
    `select ${subscriptionColumns} from billing_subscriptions
     where workspace_id = $1 and provider = 'builtin' and status <> 'cancelled'`,
    [workspaceId],
  )

export const findPlan = (tx: Tx, planId: string): Promise<BillingPlan> =>
  tx.row<BillingPlan>(
    'select plan_id, name, amount, currency, "interval", trial_days, usage_prices, tax from plans where plan_id = $1',
    [planId],
  )

/** Returns the plan and locks it, so that it cannot change until the transaction ends. */
export async function lockPlan(tx: Tx, planId: string): Promise<BillingPlan> {
  await tx.rows('select from hold_plan($1)', [planId])
  return findPlan(tx, planId)
}

export const insertSubscription = (
  tx: Tx,
  row: Omit<LedgerSubscription, 'cancel_at_period_end' | 'first_failed_at' | 'next_attempt_at'> & { created_at: Date },
): Promise<LedgerSubscription> =>
  tx.row<LedgerSubscription>(
    `insert into billing_subscriptions (workspace_id, subscription_id, provider, provider_ref, plan_id, status, anchor_at,
       current_period_start, current_period_end, request_key, created_at, discount)
     values ($1, $2, 'builtin', $2::uuid::text, $3, $4, $5, $6, $7, $8, $9, $10) returning ${subscriptionColumns}`,
    [
      row.workspace_id,
      row.subscription_id,
      row.plan_id,
      row.status,
      row.anchor_at,
      row.current_period_start,
      row.current_period_end,
      row.request_key,
      row.created_at,
      row.discount,
    ],
  )

export async function saveSubscription(tx: Tx, row: LedgerSubscription, endedAt: Date | null = null): Promise<void> {
  await tx.count(
    `update billing_subscriptions set plan_id = $3, status = $4, anchor_at = $5, current_period_start = $6,
       current_period_end = $7, cancel_at_period_end = $8, first_failed_at = $9, next_attempt_at = $10, ended_at = $11,
       discount = $12
     where workspace_id = $1 and subscription_id = $2`,
    [
      row.workspace_id,
      row.subscription_id,
      row.plan_id,
      row.status,
      row.anchor_at,
      row.current_period_start,
      row.current_period_end,
      row.cancel_at_period_end,
      row.first_failed_at,
      row.next_attempt_at,
      endedAt,
      row.discount,
    ],
  )
}

/**
 * Writes an invoice. The customer's credit is used first; a negative total becomes credit. The lines always add up to
 * the amount due. Invoice numbers have no gaps because a rolled-back invoice returns its number.
 */
export async function issueInvoice(
  tx: Tx,
  customer: LedgerCustomer,
  invoice: {
    subscription: LedgerSubscription
    lines: InvoiceLine[]
    currency: string
    start: Date
    end: Date
    at: Date
  },
): Promise<LedgerInvoice> {
  const { currency, start, end } = invoice
  const { lines, due, creditLeft } = billWithCredit(invoice.lines, customer.credit[currency] ?? 0, { start, end })
  customer.credit = { ...customer.credit, [currency]: creditLeft }
  const { issued } = await tx.row<{ issued: number }>(
    `update billing_customers set invoices_issued = invoices_issued + 1, credit = $2
     where workspace_id = $1 and provider = 'builtin' returning invoices_issued as issued`,
    [customer.workspace_id, customer.credit],
  )
  return tx.row<LedgerInvoice>(
    `insert into invoices (workspace_id, invoice_id, provider, provider_ref, subscription_id, number, status, amount_due, currency,
       lines, period_start, period_end, created_at)
     values ($1, $2, 'builtin', $2::uuid::text, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     returning workspace_id, invoice_id, subscription_id, number, status, amount_due, currency`,
    [
      customer.workspace_id,
      newId(),
      invoice.subscription.subscription_id,
      `${customer.invoice_prefix}-${String(issued).padStart(4, '0')}`,
      due === 0 ? 'paid' : 'open',
      due,
      currency,
      JSON.stringify(lines),
      start,
      end,
      invoice.at,
    ],
  )
}

export type Outcome = 'paid' | 'declined' | 'no_method'

/** Charges the default payment method and notifies the owners of the result. */
export async function collect(tx: Tx, invoice: LedgerInvoice): Promise<Outcome> {
  if (invoice.status === 'paid') return 'paid'
  const method = await tx.maybe<{ charge: 'pays' | 'declines' }>(
    `select charge from payment_methods where workspace_id = $1 and provider = 'builtin' and is_default`,
    [invoice.workspace_id],
  )
  const outcome: Outcome = !method ? 'no_method' : method.charge === 'pays' ? 'paid' : 'declined'
  const paid = outcome === 'paid'
  await tx.count(
    `update invoices set attempts = attempts + 1, status = case when $3::boolean then 'paid' else status end,
       amount_paid = case when $3::boolean then amount_due else amount_paid end
     where workspace_id = $1 and invoice_id = $2`,
    [invoice.workspace_id, invoice.invoice_id, paid],
  )
  if (paid) await notifyInvoicePaid(tx, invoice.workspace_id, invoice)
  else await notifyInvoiceFailed(tx, invoice.workspace_id, invoice)
  return outcome
}

export const findOpenInvoice = (tx: Tx, subscription: LedgerSubscription): Promise<LedgerInvoice | undefined> =>
  tx.maybe<LedgerInvoice>(
    `select workspace_id, invoice_id, subscription_id, number, status, amount_due, currency from invoices
     where workspace_id = $1 and subscription_id = $2 and status = 'open' order by created_at limit 1`,
    [subscription.workspace_id, subscription.subscription_id],
  )

export const closeOpenInvoices = (
  tx: Tx,
  subscription: LedgerSubscription,
  as: 'void' | 'uncollectible',
): Promise<number> =>
  tx.count(`update invoices set status = $3 where workspace_id = $1 and subscription_id = $2 and status = 'open'`, [
    subscription.workspace_id,
    subscription.subscription_id,
    as,
  ])

export const priceLine = (plan: BillingPlan, start: Date, end: Date): InvoiceLine => ({
  description: `${plan.name}, one ${plan.interval}`,
  amount: plan.amount,
  quantity: 1,
  proration: false,
  period_start: start.toISOString(),
  period_end: end.toISOString(),
})
