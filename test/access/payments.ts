import { newId, toWire } from '#platform/ids'
import { type Cases, type Cast, type Expected, kinds, rows, withChanges } from './matrix.ts'

// These cases use the built-in provider; Stripe has its own tests.

/** Guests see no payment method; members see payment methods but cannot change them. */
const ownerOfMethod = withChanges(rows.workspaceOwnerOnly, { guest: 404 })

const all = (expected: number): Expected => Object.fromEntries(kinds.map((kind) => [kind, expected])) as Expected

async function freePlan({ service }: Cast): Promise<string> {
  const uuid = newId()
  await service.sql(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval") select $1, org_id, 'Case', 0, 'eur', 'month' from orgs order by org_id limit 1`,
    [uuid],
  )
  return toWire('plan', uuid)
}

async function intent({ workspaceOwner }: Cast) {
  const { body } = await workspaceOwner.call('POST', '/api/payments/setup-intent')
  return {
    params: { setup_intent_id: body.setup_intent_id as string },
    body: {
      client_secret: body.client_secret as string,
      card: { number: '4242424242424242', exp_month: 12, exp_year: 2090, cvc: '123' },
    },
  }
}

async function method(cast: Cast) {
  const { params, body } = await intent(cast)
  const path = `/api/payments/setup-intents/${params.setup_intent_id}/confirm`
  const confirmed = await cast.workspaceOwner.call('POST', path, { body })
  return { params: { payment_method_id: confirmed.body.payment_method.payment_method_id as string } }
}

/** Callers who may change the subscription of their own workspace. */
const payers = ({ workspaceOwner, stranger, operator }: Cast) => [workspaceOwner, stranger, operator]

async function subscribed(cast: Cast): Promise<string> {
  const plan_id = await freePlan(cast)
  for (const payer of payers(cast)) await payer.call('POST', '/api/payments/subscriptions', { body: { plan_id } })
  return plan_id
}

async function unsubscribed(cast: Cast): Promise<string> {
  for (const payer of payers(cast)) await payer.call('DELETE', '/api/payments/subscriptions/me?at=now')
  return freePlan(cast)
}

export const paymentCases: Cases = {
  listInvoices: { expect: rows.selectedRead },
  listUsageCharges: { expect: rows.selectedOwnerOnly },
  showInvoice: {
    expect: rows.anyone,
    prepare: async (cast) => {
      await subscribed(cast)
      const { body } = await cast.workspaceOwner.call('GET', '/api/payments/invoices')
      const [invoice] = body.items as { invoice_id: string; url: string }[]
      return { params: { invoice_id: invoice!.invoice_id }, query: new URL(invoice!.url).search }
    },
  },
  downloadInvoice: {
    expect: rows.anyone,
    prepare: async (cast) => {
      await subscribed(cast)
      const { body } = await cast.workspaceOwner.call('GET', '/api/payments/invoices')
      const [invoice] = body.items as { invoice_id: string; pdf_url: string }[]
      return { params: { invoice_id: invoice!.invoice_id }, query: new URL(invoice!.pdf_url).search }
    },
  },
  listPaymentMethods: { expect: rows.selectedRead },
  deletePaymentMethod: {
    expect: ownerOfMethod,
    prepare: async (cast) => {
      await method(cast)
      return method(cast)
    },
  },
  setDefaultPaymentMethod: { expect: ownerOfMethod, prepare: method },
  listPlans: { expect: rows.anyone },
  createPlan: {
    expect: rows.operators,
    prepare: async () => ({ body: { name: 'Case', amount: 0, currency: 'eur', interval: 'month' } }),
  },
  // A plan belongs to the org, so its id is not secret.
  getPlan: {
    expect: rows.anyone,
    prepare: async (cast) => ({ params: { plan_id: await freePlan(cast) } }),
  },
  updatePlan: {
    expect: rows.operators,
    prepare: async (cast) => ({ params: { plan_id: await freePlan(cast) }, body: { name: 'Renamed' } }),
    plainParameters: ['plan_id'],
  },
  deletePlan: {
    expect: rows.operators,
    prepare: async (cast) => ({ params: { plan_id: await freePlan(cast) } }),
    plainParameters: ['plan_id'],
  },
  createSetupIntent: { expect: rows.selectedOwnerOnly },
  confirmSetupIntent: { expect: ownerOfMethod, prepare: intent },
  createBillingSubscription: {
    expect: rows.selectedOwnerOnly,
    prepare: async (cast) => ({ body: { plan_id: await unsubscribed(cast) } }),
  },
  getMyBillingSubscription: {
    expect: rows.selectedRead,
    prepare: async (cast) => {
      await subscribed(cast)
      return {}
    },
  },
  updateMyBillingSubscription: {
    expect: rows.selectedOwnerOnly,
    prepare: async (cast) => ({ body: { plan_id: await subscribed(cast) } }),
  },
  cancelMyBillingSubscription: {
    expect: rows.selectedOwnerOnly,
    prepare: async (cast) => {
      await subscribed(cast)
      return { query: '?at=now' }
    },
  },
  getUsage: { expect: rows.selectedRead },
  moveTestClock: { expect: rows.operators, prepare: async () => ({ body: { now: new Date().toISOString() } }) },
  // Only a signature gives access, and this installation has no secret to check a signature with.
  receiveStripeWebhook: { expect: all(401), prepare: async () => ({ raw: '{}' }) },
}
