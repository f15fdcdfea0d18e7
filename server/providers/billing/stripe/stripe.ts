import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import type { BillingProvider, Customer, Snapshot } from '../index.ts'
import { stripeLibrary } from './library.ts'
import { reportUsage } from './meters.ts'
import { isMissing, translateErrors } from './refusals.ts'
import { defaultMethodOf, invoiceOf, metersOf, methodOf, subscriptionOf } from './snapshot.ts'
import { changePlan, subscribe } from './subscribing.ts'

/** This file reads the response shapes of this API version, so an SDK upgrade must be a deliberate decision. */
const API_VERSION = '2026-10-28.endive'

/** The maximum response size. A hundred invoices with all their lines are far smaller. */
const MAX_ANSWER = 16 * 1024 * 1024

export type StripeOptions = {
  secretKey: string
  /** An address to use instead of Stripe's own, for tests. */
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
  /** Ends a subscription whose workspace was deleted. */
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

  /** Charges the open invoice to the new default card. If the charge fails, Stripe itself continues to retry. */
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

  return {
    name: 'stripe',
    cached: true,
    confirmSetupIntent: null,
    createCustomer: ({ workspaceId, name, email, key }) =>
      translateErrors(async () => {
        const params = { name, email, metadata: { heddle_workspace: toWire('ws', workspaceId) } }
        // The key includes the parameters: if the name changed after a crash, this is a different request to Stripe.
        const digest = createHash('sha256').update(JSON.stringify(params)).digest('base64url')
        const customer = await stripe.customers.create(params, { idempotencyKey: `customer:${key}:${digest}` })
        return customer.id
      }),
    createSetupIntent: (customer, { key }) =>
      translateErrors(async () => {
        const intent = await stripe.setupIntents.create(
          { customer: customer.ref, allowed_payment_method_types: ['card'], usage: 'off_session' },
          { idempotencyKey: `setup:${key}` },
        )
        return { ref: intent.id, client_secret: intent.client_secret! }
      }),
    setDefaultMethod: (customer, methodRef, key) =>
      translateErrors(async () => {
        await stripe.customers.update(
          customer.ref,
          { invoice_settings: { default_payment_method: methodRef } },
          { idempotencyKey: `default:${methodRef}:${key}` },
        )
        await payOpenInvoice(customer, key)
      }),
    removeMethod: (customer, { ref, nextDefault }, key) =>
      translateErrors(async () => {
        // Sets the next default first, so that the subscription always has a card to charge.
        if (nextDefault !== null)
          await stripe.customers.update(
            customer.ref,
            { invoice_settings: { default_payment_method: nextDefault } },
            { idempotencyKey: `default:${nextDefault}:${key}` },
          )
        await stripe.paymentMethods.detach(ref, {}, { idempotencyKey: `detach:${ref}:${key}` })
      }),
    subscribe: (customer, order) => translateErrors(() => subscribe(stripe, customer, order)),
    changePlan: (_customer, ref, plan, key) => translateErrors(() => changePlan(stripe, ref, plan, key)),
    cancel: (_customer, ref, when, key) =>
      translateErrors(async () => {
        if (when === 'now') await endNow(stripe, ref)
        else
          await stripe.subscriptions.update(
            ref,
            { cancel_at_period_end: true },
            { idempotencyKey: `cancel:${ref}:${key}` },
          )
      }),
    resume: (_customer, ref, key) =>
      translateErrors(async () => {
        await stripe.subscriptions.update(
          ref,
          { cancel_at_period_end: false },
          { idempotencyKey: `resume:${ref}:${key}` },
        )
      }),
    reportUsage: (customer, report) => translateErrors(() => reportUsage(stripe, customer, report)),
    read: (customer) => translateErrors(() => read(customer)),
    endOrphan: (ref) => translateErrors(() => endNow(stripe, ref)),
  }
}

/**
 * Ends a subscription at once. Usage that is on no invoice yet is charged with a last invoice. Repeating the DELETE is
 * safe: a subscription that has already ended counts as success.
 */
async function endNow(stripe: Stripe, ref: string): Promise<void> {
  try {
    const subscription = await stripe.subscriptions.retrieve(ref)
    await stripe.subscriptions.cancel(ref, { prorate: false, invoice_now: metersOf([subscription]).size > 0 })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
