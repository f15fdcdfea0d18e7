import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { notifyInvoiceFailed, notifyInvoicePaid, notifySubscriptionChanged } from '#providers/billing/events'
import type {
  InvoiceStatus,
  Method,
  ProviderInvoice,
  ProviderName,
  ProviderSubscription,
  SubscriptionStatus,
} from '#providers/billing/index'
import { noteInvoiced } from './charges.ts'

// Overwrites our copy with the provider's data, and notifies the owners of changes in the same transaction.

type Place = { workspaceId: string; provider: ProviderName }

export async function applyMethods(tx: Tx, { workspaceId, provider }: Place, methods: Method[]): Promise<void> {
  const refs = methods.map(({ ref }) => ref)
  await tx.count(
    'delete from payment_methods where workspace_id = $1 and provider = $2 and provider_ref <> all ($3::text[])',
    [workspaceId, provider, refs],
  )
  const defaultRef = methods.find((method) => method.is_default)?.ref ?? null
  // The old default is cleared first: there must never be two defaults.
  await tx.count(
    `update payment_methods set is_default = false
     where workspace_id = $1 and provider = $2 and is_default and provider_ref is distinct from $3`,
    [workspaceId, provider, defaultRef],
  )
  const known = new Set(
    (
      await tx.rows<{ provider_ref: string }>(
        'select provider_ref from payment_methods where workspace_id = $1 and provider = $2',
        [workspaceId, provider],
      )
    ).map((row) => row.provider_ref),
  )
  // A new card arrived, so no setup intent is pending any more.
  if (methods.some(({ ref }) => !known.has(ref)))
    await tx.count(`update setup_intents set status = 'succeeded' where workspace_id = $1 and provider = $2`, [
      workspaceId,
      provider,
    ])
  for (const method of methods) {
    await tx.count(
      `insert into payment_methods (workspace_id, payment_method_id, provider, provider_ref, brand, last4, exp_month, exp_year,
         is_default, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (provider, provider_ref) do update set brand = excluded.brand, last4 = excluded.last4,
         exp_month = excluded.exp_month, exp_year = excluded.exp_year, is_default = excluded.is_default`,
      [
        workspaceId,
        newId(),
        provider,
        method.ref,
        method.brand,
        method.last4,
        method.exp_month,
        method.exp_year,
        method.is_default,
        method.created_at,
      ],
    )
  }
}

type Known = {
  subscription_id: string
  provider_ref: string
  plan_id: string
  status: SubscriptionStatus
  cancel_at_period_end: boolean
}

/** Returns the live subscriptions beyond the one that a workspace may have. These are not copied. */
export async function applySubscriptions(tx: Tx, place: Place, found: ProviderSubscription[]): Promise<string[]> {
  const { workspaceId, provider } = place
  const rows = await tx.rows<Known>(
    `select subscription_id, provider_ref, plan_id, status, cancel_at_period_end from billing_subscriptions
     where workspace_id = $1 and provider = $2`,
    [workspaceId, provider],
  )
  const known = new Map(rows.map((row) => [row.provider_ref, row]))
  const live = found.filter(({ status }) => status !== 'cancelled')
  live.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.ref < b.ref ? -1 : 1))
  const [kept, ...extra] = live
  // Ended subscriptions come first, because a workspace may have only one live subscription.
  const vanished = rows.filter(
    (row) => row.status !== 'cancelled' && !found.some(({ ref }) => ref === row.provider_ref),
  )
  for (const row of vanished) await endSubscription(tx, place, row)
  for (const one of [...found.filter(({ status }) => status === 'cancelled'), ...(kept ? [kept] : [])])
    await applySubscription(tx, place, one, known.get(one.ref))
  return extra.map(({ ref }) => ref)
}

async function endSubscription(tx: Tx, { workspaceId }: Place, row: Known): Promise<void> {
  await tx.count(
    `update billing_subscriptions set status = 'cancelled', ended_at = now() where workspace_id = $1 and subscription_id = $2`,
    [workspaceId, row.subscription_id],
  )
  await notifySubscriptionChanged(tx, workspaceId, { ...row, status: 'cancelled' })
}

async function applySubscription(
  tx: Tx,
  { workspaceId, provider }: Place,
  one: ProviderSubscription,
  before: Known | undefined,
): Promise<void> {
  const planId = (await knownPlan(tx, one.plan_id)) ?? before?.plan_id
  // A subscription created by hand at the provider, for something that is not one of our plans.
  if (planId === undefined) return
  if (!before && one.status === 'cancelled') return
  const after = await tx.row<Known>(
    `insert into billing_subscriptions (workspace_id, subscription_id, provider, provider_ref, plan_id, status, anchor_at,
       current_period_start, current_period_end, cancel_at_period_end, request_key, created_at, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $7, $12)
     on conflict (provider, provider_ref) do update set plan_id = excluded.plan_id, status = excluded.status,
       current_period_start = excluded.current_period_start, current_period_end = excluded.current_period_end,
       cancel_at_period_end = excluded.cancel_at_period_end, ended_at = excluded.ended_at
     returning subscription_id, provider_ref, plan_id, status, cancel_at_period_end`,
    [
      workspaceId,
      newId(),
      provider,
      one.ref,
      planId,
      one.status,
      one.created_at,
      one.current_period_start,
      one.current_period_end,
      one.cancel_at_period_end,
      one.request_key,
      one.ended_at,
    ],
  )
  // A new subscription closes the attempt that created it, so that the next attempt has another number.
  if (!before)
    await tx.count(
      `update billing_customers set attempt = attempt + 1, attempt_request = null, trial_used = trial_used or $3
       where workspace_id = $1 and provider = $2`,
      [workspaceId, provider, one.status === 'trialing'],
    )
  const changed =
    !before ||
    before.plan_id !== after.plan_id ||
    before.status !== after.status ||
    before.cancel_at_period_end !== after.cancel_at_period_end
  if (changed) await notifySubscriptionChanged(tx, workspaceId, after)
}

async function knownPlan(tx: Tx, planId: string | null): Promise<string | undefined> {
  if (planId === null) return undefined
  return (await tx.maybe<{ plan_id: string }>('select plan_id from plans where plan_id = $1', [planId]))?.plan_id
}

type KnownInvoice = { provider_ref: string; status: InvoiceStatus; attempts: number }

export async function applyInvoices(
  tx: Tx,
  { workspaceId, provider }: Place,
  invoices: ProviderInvoice[],
): Promise<void> {
  const rows = await tx.rows<KnownInvoice>(
    'select provider_ref, status, attempts from invoices where workspace_id = $1 and provider = $2 and provider_ref = any ($3::text[])',
    [workspaceId, provider, invoices.map(({ ref }) => ref)],
  )
  const known = new Map(rows.map((row) => [row.provider_ref, row]))
  // Oldest first, so that ids are in the order of time.
  for (const invoice of invoices.toReversed()) {
    const before = known.get(invoice.ref)
    const { invoice_id } = await tx.row<{ invoice_id: string }>(
      `insert into invoices (workspace_id, invoice_id, provider, provider_ref, subscription_id, number, status, amount_due,
         amount_paid, currency, lines, period_start, period_end, attempts, hosted_url, created_at, pdf_url)
       values ($1, $2, $3, $4,
         (select subscription_id from billing_subscriptions where workspace_id = $1 and provider = $3 and provider_ref = $5),
         $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
       on conflict (provider, provider_ref) do update set number = excluded.number, status = excluded.status,
         amount_due = excluded.amount_due, amount_paid = excluded.amount_paid, lines = excluded.lines,
         period_start = excluded.period_start, period_end = excluded.period_end, attempts = excluded.attempts,
         hosted_url = excluded.hosted_url, pdf_url = excluded.pdf_url
       returning invoice_id`,
      [
        workspaceId,
        newId(),
        provider,
        invoice.ref,
        invoice.subscription_ref,
        invoice.number,
        invoice.status,
        invoice.amount_due,
        invoice.amount_paid,
        invoice.currency,
        JSON.stringify(invoice.lines),
        invoice.period_start,
        invoice.period_end,
        invoice.attempts,
        invoice.hosted_url,
        invoice.created_at,
        invoice.pdf_url,
      ],
    )
    for (const line of invoice.lines) if (line.meter) await noteInvoiced(tx, workspaceId, invoice_id, line)
    const facts = { ...invoice, invoice_id }
    if (invoice.status === 'paid' && before?.status !== 'paid') await notifyInvoicePaid(tx, workspaceId, facts)
    if (invoice.status === 'open' && invoice.attempts > (before?.attempts ?? 0))
      await notifyInvoiceFailed(tx, workspaceId, facts)
  }
}
