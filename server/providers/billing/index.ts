// The interface of a payment provider. There are two complete implementations: `stripe`, and `builtin`, a ledger in our
// own PostgreSQL. Amounts are whole minor units (cents). Every write accepts a key: repeating a write with the same key
// has no further effect.

export type ProviderName = 'builtin' | 'stripe'

/** A workspace as a customer of the provider. */
export type Customer = { workspaceId: string; customerId: string; ref: string }

/**
 * The kinds of metered usage of the operator's language models: tokens, or the cost of the models in millionths of a US
 * dollar.
 */
export const meters = ['model_tokens', 'model_cost'] as const
export type Meter = (typeof meters)[number]

/** Charges `unit_amount` for every `per` units above the number included in a period. `per` is a power of ten. */
export type UsagePrice = { meter: Meter; unit_amount: number; per: number; included: number }
/** A tax that is added to the price of a plan. */
export type Tax = { name: string; percent: number }

/** A coupon that reduces the price of a plan, for its first paid period or for all periods. */
export type Discount = { code: string; percent_off: number; duration: 'once' | 'forever' }

export type BillingPlan = {
  plan_id: string
  name: string
  amount: number
  currency: string
  interval: 'month' | 'year'
  trial_days: number
  usage_prices: UsagePrice[]
  tax: Tax | null
}

export type Method = {
  ref: string
  brand: string
  last4: string
  exp_month: number
  exp_year: number
  is_default: boolean
  created_at: Date
}

export type SubscriptionStatus = 'trialing' | 'active' | 'past_due' | 'cancelled'

export type ProviderSubscription = {
  ref: string
  /** Null if Heddle did not create the subscription. */
  plan_id: string | null
  status: SubscriptionStatus
  current_period_start: Date
  current_period_end: Date
  cancel_at_period_end: boolean
  request_key: string | null
  created_at: Date
  ended_at: Date | null
}

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'

export type InvoiceLine = {
  description: string
  amount: number
  quantity: number
  proration: boolean
  period_start: string
  period_end: string
  /** Set on a line for usage: the meter of which `quantity` units were used beyond the included number. */
  meter?: Meter | null
}

export type ProviderInvoice = {
  ref: string
  subscription_ref: string | null
  number: string | null
  status: InvoiceStatus
  amount_due: number
  amount_paid: number
  currency: string
  lines: InvoiceLine[]
  period_start: Date
  period_end: Date
  attempts: number
  hosted_url: string | null
  pdf_url: string | null
  created_at: Date
}

/** All data that the provider has about one customer, newest first. */
export type Snapshot = { methods: Method[]; subscriptions: ProviderSubscription[]; invoices: ProviderInvoice[] }

type SetupIntent = { ref: string; client_secret: string }

export type Card = { number: string; exp_month: number; exp_year: number; cvc: string }

export type Confirmation = { status: 'succeeded'; methodRef: string } | { status: 'requires_action' }

export type Order = {
  plan: BillingPlan
  trialDays: number
  /** Stored with the subscription, so that a repeated request recognises the subscription it created. */
  requestKey: string
  /** Counts the attempts with a known outcome. Each attempt creates at most one subscription. */
  attempt: number
  discount: Discount | null
}

export type BillingProvider = {
  readonly name: ProviderName
  /** False if our tables are the ledger itself. True if they are a cache that must be re-read after every change. */
  readonly cached: boolean
  /** Returns the provider's reference of the customer. */
  createCustomer(customer: { workspaceId: string; name: string; email: string; key: string }): Promise<string>
  createSetupIntent(customer: Customer, intent: { id: string; key: string }): Promise<SetupIntent>
  /** Null if the provider's own browser library confirms setup intents. */
  readonly confirmSetupIntent:
    | ((customer: Customer, intent: { id: string; client_secret: string; card: Card }) => Promise<Confirmation>)
    | null
  setDefaultMethod(customer: Customer, methodRef: string, key: string): Promise<void>
  /** `nextDefault` becomes the default if the removed method was the default. */
  removeMethod(customer: Customer, method: { ref: string; nextDefault: string | null }, key: string): Promise<void>
  /**
   * Throws `card_declined` and creates nothing if the first payment fails. If the bank requires the cardholder to
   * confirm the payment, returns a secret; the subscription starts when the holder has confirmed in the browser with
   * this secret.
   */
  subscribe(customer: Customer, order: Order): Promise<{ client_secret: string } | void>
  /**
   * Credits the unused part of the old price and charges the rest of the period at the new price at once. If the charge
   * fails, nothing changes. A coupon belongs to its plan and ends with the plan.
   */
  changePlan(customer: Customer, subscriptionRef: string, plan: BillingPlan, key: string): Promise<void>
  cancel(customer: Customer, subscriptionRef: string, when: 'period_end' | 'now', key: string): Promise<void>
  /** Reverses a cancellation that waits for the end of the period. */
  resume(customer: Customer, subscriptionRef: string, key: string): Promise<void>
  /** Null if the provider does not add up usage. Repeating a report has no further effect. */
  readonly reportUsage: ((customer: Customer, report: UsageReport) => Promise<void>) | null
  /** Undefined if the provider no longer knows the customer. */
  read(customer: Customer): Promise<Snapshot | undefined>
}

/** A repeated report has the same `id`. */
export type UsageReport = { id: string; meter: Meter; quantity: number; at: Date }

/** A webhook event with a verified signature. */
export type ProviderEvent = { id: string; type: string; customerRef: string | null }

export type WebhookReader = (body: Buffer, signature: string | undefined) => Promise<ProviderEvent>
