import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { InvoiceLine, InvoiceStatus, ProviderName } from '#providers/billing/index'
import { newInvoicePrefix } from '#providers/billing/invoice-number'
import { type BillingSubscription, invoiceList, methodList, type PaymentMethod } from './schema.ts'

export type CustomerRow = {
  workspace_id: string
  customer_id: string
  provider_ref: string | null
  attempt: number
  /** The request that started the attempt. Set while the outcome of the attempt is unknown. */
  attempt_request: string | null
  trial_used: boolean
  synced_at: Date | null
}
const customerColumns = 'workspace_id, customer_id, provider_ref, attempt, attempt_request, trial_used, synced_at'

export const findCustomer = (tx: Tx, workspaceId: string, provider: ProviderName): Promise<CustomerRow | undefined> =>
  tx.maybe<CustomerRow>(`select ${customerColumns} from billing_customers where workspace_id = $1 and provider = $2`, [
    workspaceId,
    provider,
  ])

export async function ensureCustomer(
  tx: Tx,
  workspaceId: string,
  provider: ProviderName,
  customerId: string,
): Promise<CustomerRow> {
  await tx.count(
    `insert into billing_customers (workspace_id, provider, customer_id, invoice_prefix) values ($1, $2, $3, $4)
     on conflict (workspace_id, provider) do nothing`,
    [workspaceId, provider, customerId, newInvoicePrefix()],
  )
  return (await findCustomer(tx, workspaceId, provider))!
}

export const setCustomerRef = (tx: Tx, workspaceId: string, provider: ProviderName, ref: string): Promise<number> =>
  tx.count('update billing_customers set provider_ref = $3 where workspace_id = $1 and provider = $2', [
    workspaceId,
    provider,
    ref,
  ])

/** Marks our copy as outdated, so that the next read refreshes it from the provider. */
export const markOutdated = (tx: Tx, workspaceId: string, provider: ProviderName): Promise<number> =>
  tx.count('update billing_customers set synced_at = null where workspace_id = $1 and provider = $2', [
    workspaceId,
    provider,
  ])

/**
 * Starts an attempt to subscribe, or continues the attempt whose outcome is unknown. Returns the request that started
 * the attempt, since everything sent to the provider under the attempt's number must be the same every time.
 */
export const beginAttempt = (
  tx: Tx,
  workspaceId: string,
  provider: ProviderName,
  requestKey: string,
): Promise<{ attempt: number; attempt_request: string }> =>
  tx.row<{ attempt: number; attempt_request: string }>(
    `update billing_customers set attempt_request = coalesce(attempt_request, $3),
       attempt_at = case when attempt_request is null then now() else attempt_at end
     where workspace_id = $1 and provider = $2 returning attempt, attempt_request`,
    [workspaceId, provider, requestKey],
  )

/** Closes an attempt whose outcome is known, so that the next attempt gets another number. */
export const closeAttempt = (tx: Tx, workspaceId: string, provider: ProviderName, attempt: number): Promise<number> =>
  tx.count(
    `update billing_customers set attempt = attempt + 1, attempt_request = null
     where workspace_id = $1 and provider = $2 and attempt = $3`,
    [workspaceId, provider, attempt],
  )

/**
 * Closes an attempt that has not appeared at the provider after 2 minutes, because it will not appear any more. The
 * number must increase: Stripe repeats its own failure for as long as it remembers the key.
 */
export const closeOldAttempt = (tx: Tx, workspaceId: string, provider: ProviderName): Promise<number> =>
  tx.count(
    `update billing_customers set attempt = attempt + 1, attempt_request = null
     where workspace_id = $1 and provider = $2 and attempt_request is not null and attempt_at < now() - interval '2 minutes'`,
    [workspaceId, provider],
  )

export type MethodRow = PaymentMethod & { provider_ref: string }
const methodColumns =
  'payment_method_id, provider_ref, brand, last4, exp_month, exp_year, is_default as "default", created_at'

export const listMethods = (tx: Tx, workspaceId: string, provider: ProviderName): Promise<MethodRow[]> =>
  tx.rows<MethodRow>(
    `select ${methodColumns} from payment_methods where workspace_id = $1 and provider = $2
     order by created_at desc, payment_method_id desc`,
    [workspaceId, provider],
  )

export const pageMethods = (tx: Tx, workspaceId: string, provider: ProviderName, asked: ListInput) =>
  readList<MethodRow>(tx, methodList, asked, {
    sql: `select ${methodColumns} from payment_methods where workspace_id = $1 and provider = $2`,
    values: [workspaceId, provider],
  })

export const findMethod = (
  tx: Tx,
  workspaceId: string,
  provider: ProviderName,
  methodId: string,
): Promise<MethodRow | undefined> =>
  tx.maybe<MethodRow>(
    `select ${methodColumns} from payment_methods where workspace_id = $1 and provider = $2 and payment_method_id = $3`,
    [workspaceId, provider, methodId],
  )

export type SubscriptionRow = BillingSubscription & { provider_ref: string; request_key: string | null }

export const findLiveSubscription = (
  tx: Tx,
  workspaceId: string,
  provider: ProviderName,
): Promise<SubscriptionRow | undefined> =>
  tx.maybe<SubscriptionRow>(
    `select subscription_id, plan_id, status, current_period_start, current_period_end, cancel_at_period_end, created_at,
       provider_ref, request_key
     from billing_subscriptions where workspace_id = $1 and provider = $2 and status <> 'cancelled'`,
    [workspaceId, provider],
  )

export type InvoiceRow = {
  invoice_id: string
  number: string | null
  status: InvoiceStatus
  amount_due: number
  amount_paid: number
  currency: string
  lines: InvoiceLine[]
  period_start: Date
  period_end: Date
  created_at: Date
  hosted_url: string | null
  pdf_url: string | null
}
const invoiceColumns =
  'invoice_id, number, status, amount_due, amount_paid, currency, lines, period_start, period_end, created_at, hosted_url, pdf_url'

export const listInvoices = (tx: Tx, workspaceId: string, provider: ProviderName, asked: ListInput) =>
  readList<InvoiceRow>(tx, invoiceList, asked, {
    sql: `select ${invoiceColumns} from invoices where workspace_id = $1 and provider = $2`,
    values: [workspaceId, provider],
  })

export const findInvoice = (tx: Tx, workspaceId: string, invoiceId: string): Promise<InvoiceRow | undefined> =>
  tx.maybe<InvoiceRow>(`select ${invoiceColumns} from invoices where workspace_id = $1 and invoice_id = $2`, [
    workspaceId,
    invoiceId,
  ])

/**
 * Returns the names of seller and buyer. The page of an invoice has no signed-in user, so row security would hide them.
 */
export const findParties = (tx: Tx, workspaceId: string): Promise<{ seller: string; buyer: string }> =>
  tx.row<{ seller: string; buyer: string }>('select seller, buyer from billing_parties($1)', [workspaceId])

export type SetupIntentRow = { setup_intent_id: string; provider_ref: string | null }

/** Creates a setup intent. A repeated request finds the intent that it created before. */
export async function ensureSetupIntent(
  tx: Tx,
  workspaceId: string,
  intent: { setup_intent_id: string; provider: ProviderName; request_key: string },
): Promise<SetupIntentRow> {
  await tx.count(
    `insert into setup_intents (workspace_id, setup_intent_id, provider, request_key) values ($1, $2, $3, $4)
     on conflict (workspace_id, request_key) do nothing`,
    [workspaceId, intent.setup_intent_id, intent.provider, intent.request_key],
  )
  return tx.row<SetupIntentRow>(
    'select setup_intent_id, provider_ref from setup_intents where workspace_id = $1 and request_key = $2',
    [workspaceId, intent.request_key],
  )
}

export const setIntentRef = (tx: Tx, workspaceId: string, intentId: string, ref: string): Promise<number> =>
  tx.count('update setup_intents set provider_ref = $3 where workspace_id = $1 and setup_intent_id = $2', [
    workspaceId,
    intentId,
    ref,
  ])

export const hasSetupIntent = async (
  tx: Tx,
  workspaceId: string,
  provider: ProviderName,
  intentId: string,
): Promise<boolean> =>
  (await tx.count('select from setup_intents where workspace_id = $1 and provider = $2 and setup_intent_id = $3', [
    workspaceId,
    provider,
    intentId,
  ])) > 0

/** Checks whether a card may be on its way: a recent setup intent exists, and no card has arrived since. */
export const awaitsCard = async (tx: Tx, workspaceId: string, provider: ProviderName): Promise<boolean> =>
  (await tx.count(
    `select from setup_intents where workspace_id = $1 and provider = $2 and status <> 'succeeded'
       and created_at > now() - interval '30 minutes' limit 1`,
    [workspaceId, provider],
  )) > 0
