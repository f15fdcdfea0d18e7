import { Refused } from './parameters.ts'
import {
  addInterval,
  type Customer,
  type Invoice,
  type Line,
  newRef,
  type Price,
  type State,
  type Subscription,
} from './state.ts'

// Charges, invoices and the lifecycle of a subscription, as far as the service relies on them.

type Emit = (type: string, object: { customer: string | null }, before?: object) => void

const declined = (code: string, message: string): Refused =>
  new Refused(402, {
    type: 'card_error',
    code,
    decline_code: code === 'card_declined' ? 'generic_decline' : undefined,
    message,
  })

/** Charges the default card. Returns the reason if the charge failed. */
export function charge(state: State, customer: Customer): Refused | null {
  const ref = customer.invoice_settings.default_payment_method
  const method = ref === null ? undefined : state.methods.get(ref)
  if (!method || method.customer !== customer.id)
    return new Refused(400, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: 'This customer has no attached payment source or default payment method.',
    })
  if (method.behaviour === 'declines') return declined('card_declined', 'Your card was declined.')
  if (method.behaviour === 'wants_holder')
    return declined(
      'subscription_payment_intent_requires_action',
      'Payment for this subscription requires additional user action.',
    )
  return null
}

export function makeInvoice(state: State, subscription: Subscription, lines: Line[]): Invoice {
  const customer = state.customers.get(subscription.customer)!
  const price = lines.reduce((sum, line) => sum + line.amount, 0)
  const off = Math.round((price * (subscription.discount?.percent_off ?? 0)) / 100)
  if (subscription.discount?.duration === 'once' && price > 0) subscription.discount = null
  const taxed = Math.round(((price - off) * (subscription.tax?.percentage ?? 0)) / 100)
  const total = price - off + taxed
  // A negative balance is money that is owed to the customer.
  const used = total > 0 ? Math.min(-customer.balance, total) : total
  customer.balance += used
  const count = [...state.invoices.values()].filter((invoice) => invoice.customer === customer.id).length
  const id = newRef('in')
  return {
    id,
    object: 'invoice',
    customer: customer.id,
    number: `${customer.id.slice(-8).toUpperCase()}-${String(count + 1).padStart(4, '0')}`,
    status: 'open',
    amount_due: total - used,
    amount_paid: 0,
    attempt_count: 0,
    currency: subscription.items.data[0]!.price.currency,
    created: state.now,
    period_start: state.now,
    period_end: state.now,
    hosted_invoice_url: `https://invoice.stripe.com/i/${id}`,
    invoice_pdf: `https://pay.stripe.com/invoice/${id}/pdf`,
    total_discount_amounts: off === 0 ? [] : [{ amount: off }],
    total_taxes: taxed === 0 ? [] : [{ amount: taxed }],
    lines: { object: 'list', data: lines },
    parent: { subscription_details: { subscription: subscription.id } },
  }
}

export const line = (description: string, amount: number, start: number, end: number, proration = false): Line => ({
  description,
  amount,
  quantity: 1,
  period: { start, end },
  pricing: null,
  parent: { subscription_item_details: { proration } },
})

/** Returns the line for the usage of a period at a metered price, rounded to whole units. */
function usageLine(state: State, customer: string, price: Price, start: number, end: number): Line {
  const meter = state.meters.get(price.recurring.meter!)!
  const used = [...state.meterEvents.values()]
    .filter((event) => event.event_name === meter.event_name && event.customer === customer)
    .filter(({ timestamp }) => timestamp >= start && timestamp < end)
    .reduce((sum, { value }) => sum + value, 0)
  const free = price.tiers ? Number(price.tiers[0]!.up_to) : 0
  const each = Number(price.tiers ? price.tiers[1]!.unit_amount_decimal : price.unit_amount_decimal)
  return {
    ...line(price.product, Math.round(Math.max(0, used - free) * each), start, end),
    quantity: used,
    pricing: { type: 'price_details', price_details: { price: price.id } },
  }
}

export function settle(invoice: Invoice): void {
  invoice.status = 'paid'
  invoice.amount_paid = invoice.amount_due
  if (invoice.amount_due > 0) invoice.attempt_count++
}

/** Ends the current period, and renews the subscription or fails as Stripe does. */
export function renew(state: State, subscription: Subscription, emit: Emit): void {
  const item = subscription.items.data[0]!
  state.now = Math.max(state.now, item.current_period_end)
  if (subscription.cancel_at_period_end) {
    end(state, subscription, emit)
    return
  }
  const { current_period_start: before, current_period_end: start } = item
  for (const one of subscription.items.data) {
    one.current_period_start = start
    one.current_period_end = addInterval(start, item.price.recurring.interval)
  }
  const metered = subscription.items.data.filter(({ price }) => price.recurring.usage_type === 'metered')
  const invoice = makeInvoice(state, subscription, [
    line(`1 × ${item.price.product}`, item.price.unit_amount, start, item.current_period_end),
    ...metered.map(({ price }) => usageLine(state, subscription.customer, price, before, start)),
  ])
  state.invoices.set(invoice.id, invoice)
  const refusal = invoice.amount_due === 0 ? null : charge(state, state.customers.get(subscription.customer)!)
  if (refusal === null) {
    settle(invoice)
    subscription.status = 'active'
    emit('invoice.paid', invoice)
  } else {
    invoice.attempt_count++
    subscription.status = 'past_due'
    emit('invoice.payment_failed', invoice)
  }
  emit('customer.subscription.updated', subscription)
}

/** Writes the last invoice about the usage of the current period, and charges it. */
export function invoiceUsage(state: State, subscription: Subscription, emit: Emit): void {
  const metered = subscription.items.data.filter(({ price }) => price.recurring.usage_type === 'metered')
  const start = subscription.items.data[0]!.current_period_start
  const until = Math.max(state.now, ...[...state.meterEvents.values()].map(({ timestamp }) => timestamp)) + 1
  const lines = metered.map(({ price }) => usageLine(state, subscription.customer, price, start, until))
  if (lines.every(({ quantity }) => quantity === 0)) return
  const invoice = makeInvoice(state, subscription, lines)
  state.invoices.set(invoice.id, invoice)
  if (invoice.amount_due > 0 && charge(state, state.customers.get(subscription.customer)!)) {
    invoice.attempt_count++
    emit('invoice.payment_failed', invoice)
    return
  }
  settle(invoice)
  emit('invoice.paid', invoice)
}

export function end(state: State, subscription: Subscription, emit: Emit): void {
  subscription.status = 'canceled'
  subscription.ended_at = state.now
  emit('customer.subscription.deleted', subscription)
}

/**
 * Refunds the unused time and charges the remaining time at the new price, each rounded to whole units as Stripe does.
 */
export function prorate(state: State, subscription: Subscription, to: Price): Line[] {
  const item = subscription.items.data[0]!
  const { current_period_start: start, current_period_end: until, price: from } = item
  const left = Math.min(1, Math.max(0, (until - state.now) / (until - start)))
  const lines = [line(`Unused time on ${from.product}`, -Math.round(from.unit_amount * left), state.now, until, true)]
  if (from.recurring.interval === to.recurring.interval)
    return [
      ...lines,
      line(`Remaining time on ${to.product}`, Math.round(to.unit_amount * left), state.now, until, true),
    ]
  item.current_period_start = state.now
  item.current_period_end = addInterval(state.now, to.recurring.interval)
  return [...lines, line(`1 × ${to.product}`, to.unit_amount, state.now, item.current_period_end)]
}
