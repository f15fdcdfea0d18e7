import { type Endpoint, find, list, text } from './endpoint.ts'
import type { Params } from './form.ts'
import { Refused } from './parameters.ts'
import { newRef, type Price, type State } from './state.ts'

// Prices, meters, taxes and coupons.

/** Checks a price: it has one amount, or a meter with an amount per unit, with or without tiers. */
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

export const priceEndpoints: Endpoint[] = [
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
]
