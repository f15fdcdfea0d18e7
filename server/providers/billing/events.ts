import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import type { SubscriptionStatus } from './index.ts'
import { formatMoney } from './money.ts'

// Notifies the owners of a workspace about its bills, in the same transaction as the change itself.

const ownersOf = async (tx: Tx, workspaceId: string): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(`select user_id from memberships where workspace_id = $1 and role = 'owner'`, [
      workspaceId,
    ])
  ).map(({ user_id }) => user_id)

const LINK = '/billing'

type InvoiceFacts = { invoice_id: string; number: string | null; amount_due: number; currency: string }

export async function notifyInvoicePaid(tx: Tx, workspaceId: string, invoice: InvoiceFacts): Promise<void> {
  // An invoice for a free period causes no notification.
  if (invoice.amount_due === 0) return
  await deliverEvent(tx, {
    workspaceId,
    kind: 'invoice.paid',
    title: `Invoice ${invoice.number ?? ''} was paid`,
    body: `Amount: ${formatMoney(invoice.amount_due, invoice.currency)}`,
    data: factsOf(invoice),
    link: LINK,
    to: await ownersOf(tx, workspaceId),
  })
}

export async function notifyInvoiceFailed(tx: Tx, workspaceId: string, invoice: InvoiceFacts): Promise<void> {
  await deliverEvent(tx, {
    workspaceId,
    kind: 'invoice.failed',
    title: `Invoice ${invoice.number ?? ''} could not be paid`,
    body: `${formatMoney(invoice.amount_due, invoice.currency)} could not be charged. Add another card, or make another one the default.`,
    data: factsOf(invoice),
    link: LINK,
    to: await ownersOf(tx, workspaceId),
  })
}

const factsOf = (invoice: InvoiceFacts): Record<string, unknown> => ({
  invoice_id: toWire('inv', invoice.invoice_id),
  number: invoice.number,
  amount_due: invoice.amount_due,
  currency: invoice.currency,
})

export async function notifySubscriptionChanged(
  tx: Tx,
  workspaceId: string,
  subscription: {
    subscription_id: string
    plan_id: string
    status: SubscriptionStatus
    cancel_at_period_end: boolean
  },
): Promise<void> {
  const { name } = await tx.row<{ name: string }>('select name from plans where plan_id = $1', [subscription.plan_id])
  await deliverEvent(tx, {
    workspaceId,
    kind: 'subscription.changed',
    title: titleOf(name, subscription),
    data: {
      subscription_id: toWire('sub', subscription.subscription_id),
      plan_id: toWire('plan', subscription.plan_id),
      status: subscription.status,
      cancel_at_period_end: subscription.cancel_at_period_end,
    },
    link: LINK,
    to: await ownersOf(tx, workspaceId),
  })
}

function titleOf(
  plan: string,
  { status, cancel_at_period_end }: { status: SubscriptionStatus; cancel_at_period_end: boolean },
) {
  switch (status) {
    case 'cancelled':
      return `The subscription to ${plan} has ended`
    case 'past_due':
      return `The subscription to ${plan} is past due`
    case 'trialing':
    case 'active':
      return cancel_at_period_end
        ? `The subscription to ${plan} will end with its period`
        : `The subscription to ${plan} is ${status === 'active' ? 'active' : 'on trial'}`
  }
}
