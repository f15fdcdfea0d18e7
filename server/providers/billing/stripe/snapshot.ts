import type Stripe from 'stripe'
import { fromWire } from '#platform/ids'
import {
  type InvoiceLine,
  type Meter,
  type Method,
  meters,
  type ProviderInvoice,
  type ProviderSubscription,
  type SubscriptionStatus,
} from '../index.ts'

// Converts Stripe's objects to our types.

const time = (seconds: number): Date => new Date(seconds * 1000)
const refOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null)

export const methodOf = (method: Stripe.PaymentMethod, defaultRef: string | null): Method => ({
  ref: method.id,
  brand: method.card?.brand ?? method.type,
  last4: method.card?.last4 ?? '',
  exp_month: method.card?.exp_month ?? 0,
  exp_year: method.card?.exp_year ?? 0,
  is_default: method.id === defaultRef,
  created_at: time(method.created),
})

const statuses: Record<string, SubscriptionStatus> = {
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  paused: 'past_due',
}

/** A workspace cannot use a subscription that is canceled, incomplete or incomplete_expired. */
const statusOf = (status: Stripe.Subscription.Status): SubscriptionStatus => statuses[status] ?? 'cancelled'

/** Returns the subscription item of the plan itself. All other items are prices for usage. */
export const planItemOf = ({ items }: Stripe.Subscription): Stripe.SubscriptionItem | undefined =>
  items.data.find(({ price }) => price.metadata.heddle_meter === undefined)

export type Meters = ReadonlyMap<string, Meter>

/** Maps each usage price to its meter. */
export const metersOf = (subscriptions: readonly Stripe.Subscription[]): Meters =>
  new Map(
    subscriptions.flatMap(({ items }) =>
      items.data.flatMap(({ price }): [string, Meter][] => {
        const meter = meters.find((name) => name === price.metadata.heddle_meter)
        return meter ? [[price.id, meter]] : []
      }),
    ),
  )

export function subscriptionOf(subscription: Stripe.Subscription): ProviderSubscription | undefined {
  const item = planItemOf(subscription)
  if (!item) return undefined
  return {
    ref: subscription.id,
    // The price identifies the paid plan. The subscription's own metadata may be older than a change of plan.
    plan_id: fromWire('plan', item.price.metadata.heddle_plan ?? '') ?? null,
    status: statusOf(subscription.status),
    current_period_start: time(item.current_period_start),
    current_period_end: time(item.current_period_end),
    cancel_at_period_end: subscription.cancel_at_period_end,
    request_key: subscription.metadata.heddle_request ?? null,
    created_at: time(subscription.created),
    ended_at: subscription.ended_at === null ? null : time(subscription.ended_at),
  }
}

const lineOf = (line: Stripe.InvoiceLineItem, meterOf: Meters): InvoiceLine => ({
  description: line.description ?? '',
  amount: line.amount,
  quantity: line.quantity ?? 1,
  proration: line.parent?.subscription_item_details?.proration ?? line.parent?.invoice_item_details?.proration ?? false,
  period_start: time(line.period.start).toISOString(),
  period_end: time(line.period.end).toISOString(),
  meter: meterOf.get(refOf(line.pricing?.price_details?.price) ?? '') ?? null,
})

/**
 * Returns lines for discounts and taxes, which Stripe stores outside the lines. With these, the lines add up to the
 * total.
 */
function termLines(invoice: Stripe.Invoice, first: InvoiceLine | undefined): InvoiceLine[] {
  const sum = (amounts: { amount: number }[] | null | undefined): number =>
    (amounts ?? []).reduce((total, { amount }) => total + amount, 0)
  const term = (description: string, amount: number): InvoiceLine[] =>
    first && amount !== 0
      ? [
          {
            description,
            amount,
            quantity: 1,
            proration: first.proration,
            period_start: first.period_start,
            period_end: first.period_end,
          },
        ]
      : []
  return [...term('Coupon', -sum(invoice.total_discount_amounts)), ...term('Tax', sum(invoice.total_taxes))]
}

export const invoiceOf = (invoice: Stripe.Invoice, meterOf: Meters = new Map()): ProviderInvoice => {
  const own = invoice.lines.data.map((line) => lineOf(line, meterOf))
  const lines = [...own, ...termLines(invoice, own[0])]
  // The invoice's own period is the previous one; the lines contain the period that is paid for.
  const starts = lines.map((line) => Date.parse(line.period_start))
  const ends = lines.map((line) => Date.parse(line.period_end))
  return {
    ref: invoice.id!,
    subscription_ref: refOf(invoice.parent?.subscription_details?.subscription),
    number: invoice.number,
    status: (invoice.status ?? 'draft') as ProviderInvoice['status'],
    amount_due: Math.max(0, invoice.amount_due),
    amount_paid: invoice.amount_paid,
    currency: invoice.currency,
    lines,
    period_start: lines.length > 0 ? new Date(Math.min(...starts)) : time(invoice.period_start),
    period_end: lines.length > 0 ? new Date(Math.max(...ends)) : time(invoice.period_end),
    attempts: invoice.attempt_count,
    hosted_url: invoice.hosted_invoice_url ?? null,
    pdf_url: invoice.invoice_pdf ?? null,
    created_at: time(invoice.created),
  }
}

export const defaultMethodOf = (customer: Stripe.Customer): string | null =>
  refOf(customer.invoice_settings.default_payment_method)
