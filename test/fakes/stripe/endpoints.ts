import { charge, end, line, makeInvoice, prorate, settle } from './billing.ts'
import type { Params } from './form.ts'
import { missingResource, Refused, type Shape } from './parameters.ts'
import { addInterval, type Customer, newRef, type Price, type State, type Subscription } from './state.ts'

// The endpoints the service uses, each with exactly the parameters it may send.

type Emit = (type: string, object: { customer: string | null }, before?: object) => void
export type Endpoint = {
  method: string
  path: RegExp
  shape: Shape
  run(state: State, params: Params, ids: string[], emit: Emit): unknown
}

const list = (data: unknown[], url: string) => ({ object: 'list', url, has_more: false, data })
const text = (value: unknown): string => value as string
const newestFirst = <T extends { created: number }>(things: T[]): T[] =>
  things.toReversed().sort((a, b) => b.created - a.created)

function find<T>(things: Map<string, T>, what: string, id: string): T {
  const thing = things.get(id)
  if (!thing || (thing as { deleted?: true }).deleted) throw missingResource(what, id)
  return thing
}

const methodOf = ({ behaviour: _behaviour, ...shown }: { behaviour: string }) => shown

function setDefault(state: State, customer: Customer, ref: string): void {
  const method = find(state.methods, 'PaymentMethod', ref)
  if (method.customer !== customer.id)
    throw new Refused(400, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `The customer does not have a payment method with the ID ${ref}.`,
    })
  customer.invoice_settings.default_payment_method = ref
}

const termsOf = (state: State, params: Params): Pick<Subscription, 'tax' | 'discount'> => {
  const [rate] = (params.default_tax_rates || []) as string[]
  const [discount] = (params.discounts || []) as { coupon: string }[]
  return {
    tax: rate === undefined ? null : find(state.taxRates, 'tax rate', rate),
    discount: discount === undefined ? null : find(state.coupons, 'coupon', discount.coupon),
  }
}

export const endpoints: Endpoint[] = [
  {
    method: 'POST',
    path: /^\/v1\/customers$/,
    shape: { optional: { name: 'text', email: 'text', metadata: 'metadata' } },
    run(state, params, _ids, emit) {
      const customer: Customer = {
        id: newRef('cus'),
        object: 'customer',
        name: text(params.name),
        email: text(params.email),
        balance: 0,
        created: state.now,
        invoice_settings: { default_payment_method: null },
        metadata: (params.metadata ?? {}) as Record<string, string>,
      }
      state.customers.set(customer.id, customer)
      emit('customer.created', { ...customer, customer: null })
      return customer
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/customers\/([^/]+)$/,
    shape: {},
    run: (state, _params, [id]) => {
      const customer = state.customers.get(id!)
      if (customer?.deleted) return { id, object: 'customer', deleted: true }
      return find(state.customers, 'customer', id!)
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/customers\/([^/]+)$/,
    shape: { optional: { invoice_settings: { default_payment_method: 'text' } } },
    run(state, params, [id], emit) {
      const customer = find(state.customers, 'customer', id!)
      const settings = params.invoice_settings as { default_payment_method: string } | undefined
      if (settings) setDefault(state, customer, settings.default_payment_method)
      emit('customer.updated', { ...customer, customer: null })
      return customer
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/customers\/([^/]+)\/payment_methods$/,
    shape: { optional: { type: ['card'], limit: 'integer' } },
    run(state, _params, [id]) {
      find(state.customers, 'customer', id!)
      const own = [...state.methods.values()].filter((method) => method.customer === id)
      return list(newestFirst(own).map(methodOf), `/v1/customers/${id}/payment_methods`)
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/setup_intents$/,
    shape: {
      required: { customer: 'text' },
      optional: { allowed_payment_method_types: ['text'], usage: ['off_session', 'on_session'] },
    },
    run(state, params) {
      const customer = find(state.customers, 'customer', text(params.customer))
      const id = newRef('seti')
      const intent = {
        id,
        object: 'setup_intent' as const,
        client_secret: `${id}_secret_${newRef('x').slice(2)}`,
        customer: customer.id,
        status: 'requires_payment_method' as const,
        payment_method: null,
        usage: text(params.usage ?? 'off_session'),
      }
      state.intents.set(id, intent)
      return intent
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/payment_methods\/([^/]+)\/detach$/,
    shape: {},
    run(state, _params, [id], emit) {
      const method = find(state.methods, 'PaymentMethod', id!)
      const { customer: ref } = method
      if (ref === null)
        throw new Refused(400, {
          type: 'invalid_request_error',
          message: 'The payment method is not attached to a customer.',
        })
      method.customer = null
      const customer = state.customers.get(ref)!
      if (customer.invoice_settings.default_payment_method === id)
        customer.invoice_settings.default_payment_method = null
      emit('payment_method.detached', methodOf(method) as never, { customer: ref })
      return methodOf(method)
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/prices$/,
    shape: { optional: { lookup_keys: ['text'], active: 'boolean', limit: 'integer' } },
    run(state, params) {
      const keys = params.lookup_keys as string[] | undefined
      const found = [...state.prices.values()].filter(
        (price) => price.active && (keys === undefined || keys.includes(price.lookup_key ?? '')),
      )
      return list(found, '/v1/prices')
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/prices$/,
    shape: {
      required: {
        currency: 'text',
        recurring: { interval: ['month', 'year'], usage_type: ['licensed', 'metered'], meter: 'text' },
        product_data: { name: 'text' },
      },
      optional: {
        unit_amount: 'integer',
        unit_amount_decimal: 'text',
        billing_scheme: ['per_unit', 'tiered'],
        tiers_mode: ['graduated', 'volume'],
        tiers: [{ up_to: 'text', unit_amount: 'integer', unit_amount_decimal: 'text' }],
        lookup_key: 'text',
        metadata: 'metadata',
      },
    },
    run(state, params) {
      const recurring = checkPrice(state, params)
      const key = params.lookup_key === undefined ? null : text(params.lookup_key)
      if (key !== null && [...state.prices.values()].some((price) => price.lookup_key === key))
        throw new Refused(400, {
          type: 'invalid_request_error',
          param: 'lookup_key',
          message: `A price (\`price_…\`) already uses that lookup key.`,
        })
      const price = {
        id: newRef('price'),
        object: 'price' as const,
        active: true,
        lookup_key: key,
        currency: text(params.currency),
        unit_amount: Number(params.unit_amount ?? 0),
        recurring,
        ...(params.unit_amount_decimal !== undefined && { unit_amount_decimal: text(params.unit_amount_decimal) }),
        ...(params.tiers !== undefined && { tiers: params.tiers as { up_to: string }[] }),
        product: (params.product_data as { name: string }).name,
        metadata: (params.metadata ?? {}) as Record<string, string>,
      }
      state.prices.set(price.id, price)
      return price
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/billing\/meters$/,
    shape: { optional: { status: ['active', 'inactive'], limit: 'integer' } },
    run: (state) => list([...state.meters.values()], '/v1/billing/meters'),
  },
  {
    method: 'POST',
    path: /^\/v1\/billing\/meters$/,
    shape: {
      required: {
        display_name: 'text',
        event_name: 'text',
        default_aggregation: { formula: ['count', 'sum', 'last'] },
      },
      optional: {
        customer_mapping: { type: ['by_id'], event_payload_key: 'text' },
        value_settings: { event_payload_key: 'text' },
      },
    },
    run(state, params) {
      const event_name = text(params.event_name)
      if ([...state.meters.values()].some((meter) => meter.event_name === event_name))
        throw new Refused(400, {
          type: 'invalid_request_error',
          message: `There is already an active meter with the event name ${event_name}.`,
        })
      const meter = {
        id: newRef('mtr'),
        object: 'billing.meter' as const,
        event_name,
        display_name: text(params.display_name),
        status: 'active' as const,
      }
      state.meters.set(meter.id, meter)
      return meter
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/billing\/meter_events$/,
    shape: {
      required: { event_name: 'text', payload: { stripe_customer_id: 'text', value: 'integer' } },
      optional: { identifier: 'text', timestamp: 'integer' },
    },
    run(state, params) {
      const refuse = (message: string): Refused => new Refused(400, { type: 'invalid_request_error', message })
      const event_name = text(params.event_name)
      const payload = params.payload as { stripe_customer_id?: string; value?: string }
      if (![...state.meters.values()].some((meter) => meter.event_name === event_name))
        throw refuse(`No active meter found for event name ${event_name}.`)
      if (payload.stripe_customer_id === undefined || payload.value === undefined)
        throw refuse('The payload must have the customer and the value.')
      find(state.customers, 'customer', payload.stripe_customer_id)
      const now = Date.now() / 1000
      const timestamp = Number(params.timestamp ?? now)
      if (timestamp < now - 35 * 86_400 || timestamp > now + 300)
        throw refuse('The timestamp must be within the past 35 calendar days or up to 5 minutes in the future.')
      const identifier = params.identifier === undefined ? newRef('evt') : text(params.identifier)
      if (identifier.length > 100) throw refuse('Invalid identifier.')
      if (state.meterEvents.has(identifier)) throw refuse(`An event already exists with identifier ${identifier}.`)
      const event = {
        identifier,
        event_name,
        customer: payload.stripe_customer_id,
        value: Number(payload.value),
        timestamp,
      }
      state.meterEvents.set(identifier, event)
      return {
        object: 'billing.meter_event',
        livemode: false,
        created: Math.floor(now),
        identifier,
        event_name,
        timestamp,
        payload,
      }
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/tax_rates$/,
    shape: { optional: { active: 'boolean', limit: 'integer' } },
    run: (state) => list([...state.taxRates.values()], '/v1/tax_rates'),
  },
  {
    method: 'POST',
    path: /^\/v1\/tax_rates$/,
    shape: {
      required: { display_name: 'text', percentage: 'number', inclusive: 'boolean' },
      optional: { metadata: 'metadata' },
    },
    run(state, params) {
      const rate = {
        id: newRef('txr'),
        object: 'tax_rate' as const,
        percentage: Number(params.percentage),
        metadata: (params.metadata ?? {}) as Record<string, string>,
      }
      state.taxRates.set(rate.id, rate)
      return rate
    },
  },
  {
    method: 'GET',
    path: /^\/v1\/coupons\/([^/]+)$/,
    shape: {},
    run: (state, _params, [id]) => find(state.coupons, 'coupon', id!),
  },
  {
    method: 'POST',
    path: /^\/v1\/coupons$/,
    shape: {
      required: { percent_off: 'number', duration: ['once', 'forever'] },
      optional: { id: 'text', name: 'text' },
    },
    run(state, params) {
      const coupon = {
        id: text(params.id),
        object: 'coupon' as const,
        percent_off: Number(params.percent_off),
        duration: params.duration as 'once' | 'forever',
      }
      state.coupons.set(coupon.id, coupon)
      return coupon
    },
  },
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
    run(state, _params, [id], emit) {
      const subscription = find(state.subscriptions, 'subscription', id!)
      if (subscription.status === 'canceled') throw missingResource('subscription', id!)
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

/** A price is of one amount, or by meter with an amount for each unit, in tiers or without. */
function checkPrice(state: State, params: Params): Price['recurring'] {
  const { interval, usage_type, meter } = params.recurring as Record<string, string | undefined>
  const refuse = (message: string): Refused => new Refused(400, { type: 'invalid_request_error', message })
  if (interval === undefined) throw refuse('Missing required param: recurring[interval].')
  const isMetered = usage_type === 'metered'
  if (isMetered !== (meter !== undefined))
    throw refuse('`recurring[meter]` must be given for metered prices, and only for them.')
  if (isMetered) find(state.meters, 'billing meter', meter!)
  const tiers = params.tiers as Price['tiers']
  if ((params.billing_scheme === 'tiered') !== (tiers !== undefined) || (tiers && params.tiers_mode === undefined))
    throw refuse('Tiers need `billing_scheme=tiered` and `tiers_mode`.')
  if (tiers && tiers.at(-1)!.up_to !== 'inf') throw refuse('The last tier must be up to `inf`.')
  const amounts = [params.unit_amount, params.unit_amount_decimal, tiers].filter((given) => given !== undefined)
  if (amounts.length !== 1) throw refuse('Specify exactly one of `unit_amount`, `unit_amount_decimal` and `tiers`.')
  for (const decimal of [params.unit_amount_decimal, ...(tiers ?? []).map((tier) => tier.unit_amount_decimal)])
    if (decimal !== undefined && !/^\d+(\.\d{1,12})?$/.test(text(decimal))) throw refuse(`Invalid decimal: ${decimal}`)
  return {
    interval: interval as 'month' | 'year',
    usage_type: isMetered ? 'metered' : 'licensed',
    meter: meter ?? null,
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
      // error_if_incomplete: everything stays as it was.
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
