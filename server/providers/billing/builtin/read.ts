import type { Tx } from '#platform/db/pool'
import type { Method, ProviderInvoice, ProviderSubscription, Snapshot } from '../index.ts'

/** Returns the ledger in the types of the provider interface. */
export async function readLedger(tx: Tx, workspaceId: string): Promise<Snapshot> {
  const methods = await tx.rows<Method>(
    `select provider_ref as ref, brand, last4, exp_month, exp_year, is_default, created_at from payment_methods
     where workspace_id = $1 and provider = 'builtin' order by created_at desc, payment_method_id desc`,
    [workspaceId],
  )
  const subscriptions = await tx.rows<ProviderSubscription>(
    `select provider_ref as ref, plan_id, status, current_period_start, current_period_end, cancel_at_period_end, request_key,
       created_at, ended_at
     from billing_subscriptions where workspace_id = $1 and provider = 'builtin' order by created_at desc, subscription_id desc`,
    [workspaceId],
  )
  const invoices = await tx.rows<ProviderInvoice>(
    `select provider_ref as ref, subscription_id::text as subscription_ref, number, status, amount_due, amount_paid, currency, lines,
       period_start, period_end, attempts, hosted_url, pdf_url, created_at
     from invoices where workspace_id = $1 and provider = 'builtin' order by created_at desc, invoice_id desc`,
    [workspaceId],
  )
  return { methods, subscriptions, invoices }
}
