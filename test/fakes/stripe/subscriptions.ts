import { charge, end, invoiceUsage, line, makeInvoice, prorate, settle } from './billing.ts'
import { type Emit, type Endpoint, find, list, newestFirst, text } from './endpoint.ts'
import type { Params } from './form.ts'
import { missingResource, Refused } from './parameters.ts'
import { addInterval, newRef, type Price, type State, type Subscription } from './state.ts'

// Subscriptions and their invoices.

const termsOf = (state: State, params: Params): Pick<Subscription, 'tax' | 'discount'> => {
  const [rate] = (params.default_tax_rates || []) as string[]
  const [discount] = (params.discounts || []) as { coupon: string }[]
  return {
    tax: rate === undefined ? null : find(state.taxRates, 'tax rate', rate),
    discount: discount === undefined ? null : find(state.coupons, 'coupon', discount.coupon),
  }
}

function changeItem(
  state: State,
  subscription: Subscription,
  wanted: { id?: string; price?: string; deleted?: string },
): void {
  const { data } = subscription.items
  if (wanted.deleted === 'true') {
    const at = data.findIndex(({ id }) => id === wanted.id)
    if (at < 0) throw missingResource('subscription_item', wanted.id ?? '')
    data.splice(at, 1)
    return
  }
  const price = find(state.prices, 'price', wanted.price ?? '')
  data.push({ ...data[0]!, id: newRef('si'), price })
}

function changePrice(
  state: State,
  subscription: Subscription,
  wanted: { id: string; price: string },
  emit: Emit,
): void {
  const item = subscription.items.data.find(({ id }) => id === wanted.id)
  if (!item) throw missingResource('subscription_item', wanted.id)
  const price = find(state.prices, 'price', wanted.price)
  const before = structuredClone({ subscription, customer: state.customers.get(subscription.customer)! })
  if (subscription.status !== 'trialing') {
    const invoice = makeInvoice(state, subscription, prorate(state, subscription, price))
    const refusal = invoice.amount_due === 0 ? null : charge(state, state.customers.get(subscription.customer)!)
    if (refusal) {
      // error_if_incomplete: nothing changes.
      Object.assign(subscription, before.subscription)
      Object.assign(state.customers.get(subscription.customer)!, before.customer)
      throw refusal
    }
    settle(invoice)
    state.invoices.set(invoice.id, invoice)
    emit('invoice.paid', invoice)
  }
  subscription.items.data[0]!.price = price
}

export const subscriptionEndpoints: Endpoint[] = [
  {
    method: 'POST',
    path: /^\/v1\/subscriptions$/,
    shape: {
      required: { customer: 'text', items: [{ price: 'text' }] },
      optional: {
        payment_behavior: ['error_if_incomplete', 'allow_incomplete', 'default_incomplete', 'pending_if_incomplete'],
        off_session: 'boolean',
        metadata: 'metadata',
        trial_period_days: 'integer',
        default_tax_rates: ['text'],
        discounts: [{ coupon: 'text' }],
        expand: ['text'],
      },
    },
    run(state, params, _ids, emit) {
      const customer = find(state.customers, 'customer', text(params.customer))
      const prices = (params.items as { price: string }[]).map((wanted) => find(state.prices, 'price', wanted.price))
      const [price] = prices as [Price]
      const trial = params.trial_period_days === undefined ? 0 : Number(params.trial_period_days)
      const until = trial > 0 ? state.now + trial * 86_400 : addInterval(state.now, price.recurring.interval)
      const subscription: Subscription = {
        id: newRef('sub'),
        object: 'subscription',
        customer: customer.id,
        status: trial > 0 ? 'trialing' : 'active',
        cancel_at_period_end: false,
        created: state.now,
        ended_at: null,
        ...termsOf(state, params),
        metadata: (params.metadata ?? {}) as Record<string, string>,
        items: {
          object: 'list',
          data: prices.map((one) => ({
            id: newRef('si'),
            object: 'subscription_item',
            price: one,
            current_period_start: state.now,
            current_period_end: until,
          })),
        },
      }
      const amount = trial > 0 ? 0 : price.unit_amount
      const invoice = makeInvoice(state, subscription, [line(`1 × ${price.product}`, amount, state.now, until)])
      if (params.payment_behavior === 'default_incomplete' && invoice.amount_due > 0) {
        const client_secret = `${newRef('pi')}_secret_${newRef('x').slice(2)}`
        Object.assign(subscription, {
          status: 'incomplete',
          latest_invoice: { id: invoice.id, confirmation_secret: { client_secret, type: 'payment_intent' } },
        })
        state.subscriptions.set(subscription.id, subscription)
        state.invoices.set(invoice.id, invoice)
        emit('customer.subscription.created', subscription)
        return subscription
      }
      const refusal = invoice.amount_due === 0 ? null : charge(state, customer)
      if (refusal) throw refusal
      settle(invoice)
      state.subscriptions.set(subscription.id, subscription)
      state.invoices.set(invoice.id, invoice)
      emit('customer.subscription.created', subscription)
      emit('invoice.paid', invoice)
      return subscription
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/subscriptions$/,
    shape: {
      optional: {
        customer: 'text',
        status: ['all', 'active', 'canceled', 'incomplete'],
        limit: 'integer',
        expand: ['text'],
      },
    },
    run(state, params) {
      find(state.customers, 'customer', text(params.customer))
      const own = [...state.subscriptions.values()].filter(
        ({ customer, status }) => customer === params.customer && (params.status === 'all' || params.status === status),
      )
      return list(newestFirst(own), '/v1/subscriptions')
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/subscriptions\/([^/]+)$/,
    shape: {},
    run: (state, _params, [id]) => find(state.subscriptions, 'subscription', id!),
  },
  {
    method: 'POST',
    path: /^\/v1\/subscriptions\/([^/]+)$/,
    shape: {
      optional: {
        items: [{ id: 'text', price: 'text', deleted: 'boolean' }],
        proration_behavior: ['always_invoice', 'create_prorations', 'none'],
        payment_behavior: ['error_if_incomplete', 'allow_incomplete', 'default_incomplete', 'pending_if_incomplete'],
        off_session: 'boolean',
        cancel_at_period_end: 'boolean',
        default_tax_rates: ['text'],
        discounts: [{ coupon: 'text' }],
      },
    },
    run(state, params, [id], emit) {
      const subscription = find(state.subscriptions, 'subscription', id!)
      if (subscription.status === 'canceled')
        throw new Refused(400, {
          type: 'invalid_request_error',
          message: 'A canceled subscription can only update its metadata.',
        })
      if (params.cancel_at_period_end !== undefined)
        subscription.cancel_at_period_end = params.cancel_at_period_end === 'true'
      const [item, ...others] = (params.items ?? []) as { id?: string; price?: string; deleted?: string }[]
      if (params.default_tax_rates !== undefined) Object.assign(subscription, termsOf(state, params))
      if (item?.id !== undefined && item.price !== undefined)
        changePrice(state, subscription, { id: item.id, price: item.price }, emit)
      for (const other of others) changeItem(state, subscription, other)
      emit('customer.subscription.updated', subscription)
      return subscription
    },
  },
  {
    method: 'DELETE',
    path: /^\/v1\/subscriptions\/([^/]+)$/,
    shape: { optional: { prorate: 'boolean', invoice_now: 'boolean' } },
    run(state, params, [id], emit) {
      const subscription = find(state.subscriptions, 'subscription', id!)
      if (subscription.status === 'canceled') throw missingResource('subscription', id!)
      if (params.invoice_now === 'true') invoiceUsage(state, subscription, emit)
      end(state, subscription, emit)
      return subscription
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/invoices$/,
    shape: {
      optional: { customer: 'text', status: ['open', 'paid', 'void', 'draft', 'uncollectible'], limit: 'integer' },
    },
    run(state, params) {
      const own = [...state.invoices.values()].filter(
        (invoice) =>
          invoice.customer === params.customer && (params.status === undefined || invoice.status === params.status),
      )
      return list(newestFirst(own).slice(0, Number(params.limit ?? 10)), '/v1/invoices')
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/invoices\/([^/]+)\/pay$/,
    shape: { optional: { off_session: 'boolean' } },
    run(state, _params, [id], emit) {
      const invoice = find(state.invoices, 'invoice', id!)
      if (invoice.status !== 'open')
        throw new Refused(400, { type: 'invalid_request_error', message: 'Invoice is already paid' })
      const refusal = charge(state, state.customers.get(invoice.customer)!)
      if (refusal) {
        invoice.attempt_count++
        throw refusal
      }
      settle(invoice)
      const subscription = state.subscriptions.get(invoice.parent.subscription_details.subscription)!
      if (subscription.status === 'past_due') subscription.status = 'active'
      emit('invoice.paid', invoice)
      emit('customer.subscription.updated', subscription)
      return invoice
    },
  },
]
