import { randomBytes } from 'node:crypto'

// The objects that the fake stores, in the shapes of its API version.

export type Customer = {
  id: string
  object: 'customer'
  name: string | null
  email: string | null
  balance: number
  created: number
  invoice_settings: { default_payment_method: string | null }
  metadata: Record<string, string>
  deleted?: true
}
export type PaymentMethod = {
  id: string
  object: 'payment_method'
  type: 'card'
  customer: string | null
  created: number
  card: { brand: string; last4: string; exp_month: number; exp_year: number }
  /** The response of the bank to a charge. */
  behaviour: 'pays' | 'declines' | 'wants_holder'
}
export type SetupIntent = {
  id: string
  object: 'setup_intent'
  client_secret: string
  customer: string
  status: 'requires_payment_method' | 'requires_action' | 'succeeded'
  payment_method: string | null
  usage: string
}
export type Price = {
  id: string
  object: 'price'
  active: boolean
  lookup_key: string | null
  currency: string
  /** 0 if the price is metered. */
  unit_amount: number
  recurring: { interval: 'month' | 'year'; usage_type: 'licensed' | 'metered'; meter: string | null }
  unit_amount_decimal?: string
  tiers?: { up_to: string; unit_amount?: string; unit_amount_decimal?: string }[]
  product: string
  metadata: Record<string, string>
}
export type Meter = { id: string; object: 'billing.meter'; event_name: string; display_name: string; status: 'active' }
export type MeterEvent = { identifier: string; event_name: string; customer: string; value: number; timestamp: number }
export type Subscription = {
  id: string
  object: 'subscription'
  customer: string
  status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'incomplete'
  cancel_at_period_end: boolean
  created: number
  ended_at: number | null
  metadata: Record<string, string>
  tax: TaxRate | null
  discount: Coupon | null
  /** Set while the first payment waits for the card holder. */
  latest_invoice?: { id: string; confirmation_secret: { client_secret: string; type: 'payment_intent' } }
  items: {
    object: 'list'
    data: {
      id: string
      object: 'subscription_item'
      price: Price
      current_period_start: number
      current_period_end: number
    }[]
  }
}
export type TaxRate = { id: string; object: 'tax_rate'; percentage: number; metadata: Record<string, string> }
export type Coupon = { id: string; object: 'coupon'; percent_off: number; duration: 'once' | 'forever' }
export type Line = {
  description: string
  amount: number
  quantity: number
  period: { start: number; end: number }
  pricing: { type: 'price_details'; price_details: { price: string } } | null
  parent: { subscription_item_details: { proration: boolean } }
}
export type Invoice = {
  id: string
  object: 'invoice'
  customer: string
  number: string
  status: 'open' | 'paid' | 'void'
  amount_due: number
  amount_paid: number
  attempt_count: number
  currency: string
  created: number
  period_start: number
  period_end: number
  hosted_invoice_url: string
  invoice_pdf: string
  total_discount_amounts: { amount: number }[]
  total_taxes: { amount: number }[]
  lines: { object: 'list'; data: Line[] }
  parent: { subscription_details: { subscription: string } }
}

export type State = ReturnType<typeof makeState>

export function makeState() {
  const state = {
    customers: new Map<string, Customer>(),
    methods: new Map<string, PaymentMethod>(),
    intents: new Map<string, SetupIntent>(),
    prices: new Map<string, Price>(),
    meters: new Map<string, Meter>(),
    meterEvents: new Map<string, MeterEvent>(),
    taxRates: new Map<string, TaxRate>(),
    coupons: new Map<string, Coupon>(),
    subscriptions: new Map<string, Subscription>(),
    invoices: new Map<string, Invoice>(),
    /**
     * The time in seconds; tests can change it. Each new card advances it by one second. It starts one minute late,
     * because it must not overtake the clock of the program: usage would then be dated before the period.
     */
    now: Math.floor(Date.now() / 1000) - 60,
  }
  return state
}

export const newRef = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`

export function addInterval(from: number, interval: 'month' | 'year'): number {
  const date = new Date(from * 1000)
  date.setUTCMonth(date.getUTCMonth() + (interval === 'year' ? 12 : 1))
  return Math.floor(date.getTime() / 1000)
}
