// What the service needs of the provider that keeps the money. Two complete implementations: `stripe`, and `builtin`, a ledger in our
// own PostgreSQL. Amounts are whole minor units (cents). Every write takes a key: the same key again is the same effect.

export type ProviderName = 'builtin' | 'stripe'

/** A workspace as the provider knows it. */
export type Customer = { workspaceId: string; customerId: string; ref: string }

/** What is used of the operator's language models: tokens, or millionths of a US dollar of what they cost. */
export const meters = ['model_tokens', 'model_cost'] as const
export type Meter = (typeof meters)[number]

/** `unit_amount` for every `per` units beyond those that are included in a period. `per` is a power of ten. */
export type UsagePrice = { meter: Meter; unit_amount: number; per: number; included: number }
/** Added to what a plan costs. */
export type Tax = { name: string; percent: number }

/** What a coupon takes off the price of a plan: its first paid period, or all of them. */
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
  /** null where it was not made by us. */
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
  /** Where it is for usage: what was used, `quantity` of it beyond what is included. */
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

/** Everything the provider knows of one customer, newest first. */
export type Snapshot = { methods: Method[]; subscriptions: ProviderSubscription[]; invoices: ProviderInvoice[] }

type SetupIntent = { ref: string; client_secret: string }

export type Card = { number: string; exp_month: number; exp_year: number; cvc: string }

export type Confirmation = { status: 'succeeded'; methodRef: string } | { status: 'requires_action' }

export type Order = {
  plan: BillingPlan
  trialDays: number
  /** Kept with the subscription, so that a repeated request recognises what it made. */
  requestKey: string
  /** Counts the attempts whose outcome is known; at most one subscription comes of each. */
  attempt: number
  discount: Discount | null
}

export type BillingProvider = {
  readonly name: ProviderName
  /** false: our tables are the ledger itself. true: they are a cache, to be re-read after every change. */
  readonly cached: boolean
  /** The provider's reference of the customer. */
  createCustomer(customer: { workspaceId: string; name: string; email: string; key: string }): Promise<string>
  createSetupIntent(customer: Customer, intent: { id: string; key: string }): Promise<SetupIntent>
  /** Only where no browser library of the provider does it. */
  readonly confirmSetupIntent:
    | ((customer: Customer, intent: { id: string; client_secret: string; card: Card }) => Promise<Confirmation>)
    | null
  setDefaultMethod(customer: Customer, methodRef: string, key: string): Promise<void>
  /** `nextDefault` becomes the default when the removed one was. */
  removeMethod(customer: Customer, method: { ref: string; nextDefault: string | null }, key: string): Promise<void>
  /**
   * Throws `card_declined` and leaves nothing behind where the first payment fails. Where the bank asks the holder to confirm it,
   * the subscription comes to be when the holder has done so in the browser, with this secret.
   */
  subscribe(customer: Customer, order: Order): Promise<{ client_secret: string } | void>
  /** A coupon belongs to its plan and ends with it. What is left of the old price is credited, the rest of the period at the new one charged at once; or nothing changes. */
  changePlan(customer: Customer, subscriptionRef: string, plan: BillingPlan, key: string): Promise<void>
  cancel(customer: Customer, subscriptionRef: string, when: 'period_end' | 'now', key: string): Promise<void>
  /** Takes back a cancellation at the end of the period. */
  resume(customer: Customer, subscriptionRef: string, key: string): Promise<void>
  /** Only where the provider adds up what is used. The same report again is the same report. */
  readonly reportUsage: ((customer: Customer, report: UsageReport) => Promise<void>) | null
  /** undefined where the provider no longer knows the customer. */
  read(customer: Customer): Promise<Snapshot | undefined>
}

/** A repeated event has the same `id`. */
export type UsageReport = { id: string; meter: Meter; quantity: number; at: Date }

/** A webhook whose signature was found good. */
export type ProviderEvent = { id: string; type: string; customerRef: string | null }

export type WebhookReader = (body: Buffer, signature: string | undefined) => Promise<ProviderEvent>
