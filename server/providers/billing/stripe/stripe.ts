import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import { SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import type { BillingProvider, Customer, Order, Snapshot } from '../index.ts'
import { stripeLibrary } from './library.ts'
import { ensureUsagePrices, reportUsage } from './meters.ts'
import { ensurePrice } from './prices.ts'
import { inOurWords, isKeyConflict, isMissing, wantsHolder } from './refusals.ts'
import { defaultMethodOf, invoiceOf, metersOf, methodOf, planItemOf, subscriptionOf } from './snapshot.ts'
import { ensureCoupon, ensureTaxRate } from './terms.ts'

/** The shapes this file reads are those of this version; an upgrade of the SDK must be a decision. */
const API_VERSION = '2026-10-28.endive'

/** A hundred invoices with all their lines are well below. */
const MAX_ANSWER = 16 * 1024 * 1024

export type StripeOptions = {
  secretKey: string
  /** Another address than Stripe's own, for tests. */
  apiBase: string | null
  timeoutMs?: number
  retries?: number
}

export function connectStripe({ secretKey, apiBase, timeoutMs = 10 * SECOND, retries = 2 }: StripeOptions): Stripe {
  const base = apiBase === null ? null : new URL(apiBase)
  const library = stripeLibrary()
  return new library(secretKey, {
    apiVersion: API_VERSION,
    timeout: timeoutMs,
    httpClient: library.createFetchHttpClient(makeBoundedFetch({ maxBytes: MAX_ANSWER, timeoutMs })),
    maxNetworkRetries: retries,
    telemetry: false,
    ...(base && {
      host: base.hostname,
      port: base.port === '' ? (base.protocol === 'https:' ? 443 : 80) : Number(base.port),
      protocol: base.protocol === 'https:' ? 'https' : 'http',
    }),
  })
}

export type StripeProvider = BillingProvider & {
  /** Ends a subscription whose workspace is gone. */
  endOrphan(subscriptionRef: string): Promise<void>
}

export function makeStripe(stripe: Stripe): StripeProvider {
  async function read(customer: Customer): Promise<Snapshot | undefined> {
    try {
      const [found, methods, subscriptions, invoices] = await Promise.all([
        stripe.customers.retrieve(customer.ref),
        stripe.customers.listPaymentMethods(customer.ref, { type: 'card', limit: 100 }),
        stripe.subscriptions.list({ customer: customer.ref, status: 'all', limit: 20 }),
        stripe.invoices.list({ customer: customer.ref, limit: 100 }),
      ])
      if (found.deleted) return undefined
      const defaultRef = defaultMethodOf(found)
      return {
        methods: methods.data.map((method) => methodOf(method, defaultRef)),
        subscriptions: subscriptions.data.flatMap((subscription) => subscriptionOf(subscription) ?? []),
        invoices: invoices.data.map((invoice) => invoiceOf(invoice, metersOf(subscriptions.data))),
      }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** A card that has become the default pays what is open; where it does not, Stripe goes on trying by itself. */
  async function payOpenInvoice(customer: Customer, key: string): Promise<void> {
    const open = await stripe.invoices.list({ customer: customer.ref, status: 'open', limit: 1 })
    const [invoice] = open.data
    if (!invoice) return
    try {
      await stripe.invoices.pay(invoice.id!, { off_session: true }, { idempotencyKey: `pay:${invoice.id}:${key}` })
    } catch (error) {
      if (!(error instanceof stripeLibrary().errors.StripeCardError)) throw error
    }
  }

  async function subscribe(
    customer: Customer,
    { plan, trialDays, requestKey, attempt, discount }: Order,
  ): Promise<{ client_secret: string } | void> {
    const price = await ensurePrice(stripe, plan)
    const usage = await ensureUsagePrices(stripe, plan)
    const wanted = {
      customer: customer.ref,
      items: [price, ...usage].map((one) => ({ price: one })),
      metadata: { heddle_workspace: toWire('ws', customer.workspaceId), heddle_request: requestKey },
      ...(trialDays > 0 && { trial_period_days: trialDays }),
      ...(plan.tax && { default_tax_rates: [await ensureTaxRate(stripe, plan.tax)] }),
      ...(discount && { discounts: [{ coupon: await ensureCoupon(stripe, discount) }] }),
    }
    try {
      await stripe.subscriptions.create(
        // A first payment that fails leaves no subscription behind.
        { ...wanted, payment_behavior: 'error_if_incomplete', off_session: true },
        { idempotencyKey: `subscribe:${customer.ref}:${attempt}` },
      )
    } catch (error) {
      if (wantsHolder(error)) return await awaitHolder(wanted, `confirm:${customer.ref}:${attempt}`)
      // The key was used for other parameters: an earlier attempt reached Stripe, and what came of it is read, not guessed.
      if (isKeyConflict(error)) throw problem('conflict', 'Another attempt to subscribe reached Stripe first.')
      throw error
    }
  }

  /**
   * A subscription whose first payment waits for the holder. Stripe ends it by itself after a day. One that waits already for the
   * same price is used again, so that an old page and a new one do not pay twice.
   */
  async function awaitHolder(
    wanted: Stripe.SubscriptionCreateParams & { customer: string; items: { price: string }[] },
    idempotencyKey: string,
  ): Promise<{ client_secret: string }> {
    const waiting = await stripe.subscriptions.list({
      customer: wanted.customer,
      status: 'incomplete',
      limit: 20,
      expand: ['data.latest_invoice.confirmation_secret'],
    })
    const known = waiting.data.find((one) => planItemOf(one)?.price.id === wanted.items[0]?.price)
    const subscription =
      known ??
      (await stripe.subscriptions.create(
        { ...wanted, payment_behavior: 'default_incomplete', expand: ['latest_invoice.confirmation_secret'] },
        { idempotencyKey },
      ))
    const invoice = subscription.latest_invoice as Stripe.Invoice | null
    const secret = invoice?.confirmation_secret?.client_secret
    if (!secret) throw problem('provider_unavailable', 'Stripe gave nothing to confirm the payment with. Try again.')
    return { client_secret: secret }
  }

  async function changePlan(
    subscriptionRef: string,
    plan: Parameters<typeof ensurePrice>[1],
    key: string,
  ): Promise<void> {
    const price = await ensurePrice(stripe, plan)
    const subscription = await stripe.subscriptions.retrieve(subscriptionRef)
    const item = planItemOf(subscription)!
    if (item.price.id === price) return
    const usage = await ensureUsagePrices(stripe, plan)
    const before = subscription.items.data.filter(({ id }) => id !== item.id)
    if (item.price.currency !== plan.currency)
      throw problem('conflict', 'The new plan is in another currency; let this subscription end and subscribe anew.')
    if (subscription.status !== 'active' && subscription.status !== 'trialing')
      throw problem('conflict', 'An invoice is open. Make a working card the default, then change the plan.')
    await stripe.subscriptions.update(
      subscriptionRef,
      {
        items: [
          { id: item.id, price },
          ...before.map(({ id }) => ({ id, deleted: true })),
          ...usage.map((one) => ({ price: one })),
        ],
        default_tax_rates: plan.tax ? [await ensureTaxRate(stripe, plan.tax)] : '',
        discounts: '',
        proration_behavior: 'always_invoice',
        payment_behavior: 'error_if_incomplete',
        off_session: true,
      },
      { idempotencyKey: `change:${subscriptionRef}:${key}` },
    )
  }

  return {
    name: 'stripe',
    cached: true,
    confirmSetupIntent: null,
    createCustomer: ({ workspaceId, name, email, key }) =>
      inOurWords(async () => {
        const params = { name, email, metadata: { heddle_workspace: toWire('ws', workspaceId) } }
        // The parameters stand in the key: after a crash and a change of name it is another request to Stripe.
        const digest = createHash('sha256').update(JSON.stringify(params)).digest('base64url')
        const customer = await stripe.customers.create(params, { idempotencyKey: `customer:${key}:${digest}` })
        return customer.id
      }),
    createSetupIntent: (customer, { key }) =>
      inOurWords(async () => {
        const intent = await stripe.setupIntents.create(
          { customer: customer.ref, allowed_payment_method_types: ['card'], usage: 'off_session' },
          { idempotencyKey: `setup:${key}` },
        )
        return { ref: intent.id, client_secret: intent.client_secret! }
      }),
    setDefaultMethod: (customer, methodRef, key) =>
      inOurWords(async () => {
        await stripe.customers.update(
          customer.ref,
          { invoice_settings: { default_payment_method: methodRef } },
          { idempotencyKey: `default:${methodRef}:${key}` },
        )
        await payOpenInvoice(customer, key)
      }),
    removeMethod: (customer, { ref, nextDefault }, key) =>
      inOurWords(async () => {
        // The next default first: at no moment is there a subscription without a card to charge.
        if (nextDefault !== null)
          await stripe.customers.update(
            customer.ref,
            { invoice_settings: { default_payment_method: nextDefault } },
            { idempotencyKey: `default:${nextDefault}:${key}` },
          )
        await stripe.paymentMethods.detach(ref, {}, { idempotencyKey: `detach:${ref}:${key}` })
      }),
    subscribe: (customer, order) => inOurWords(() => subscribe(customer, order)),
    changePlan: (_customer, ref, plan, key) => inOurWords(() => changePlan(ref, plan, key)),
    cancel: (_customer, ref, when, key) =>
      inOurWords(async () => {
        if (when === 'now') await endNow(stripe, ref)
        else
          await stripe.subscriptions.update(
            ref,
            { cancel_at_period_end: true },
            { idempotencyKey: `cancel:${ref}:${key}` },
          )
      }),
    resume: (_customer, ref, key) =>
      inOurWords(async () => {
        await stripe.subscriptions.update(
          ref,
          { cancel_at_period_end: false },
          { idempotencyKey: `resume:${ref}:${key}` },
        )
      }),
    reportUsage: (customer, report) => inOurWords(() => reportUsage(stripe, customer, report)),
    read: (customer) => inOurWords(() => read(customer)),
    endOrphan: (ref) => inOurWords(() => endNow(stripe, ref)),
  }
}

/** DELETE is repeatable by itself: ended already is ended. */
async function endNow(stripe: Stripe, ref: string): Promise<void> {
  try {
    await stripe.subscriptions.cancel(ref, { prorate: false, invoice_now: false })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
