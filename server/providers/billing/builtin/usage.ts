import type { Tx } from '#platform/db/pool'
import type { BillingPlan, InvoiceLine, Meter } from '../index.ts'
import { usageLine } from '../usage.ts'
import type { LedgerCustomer, LedgerSubscription } from './ledger.ts'

// Usage is charged when its period ends, or when the plan changes or ends within the period. Each usage row is linked
// to the invoice that charges it, so no usage is charged twice and none is left out.

type Taken = { charge_id: string; meter: Meter; quantity: number }

/** Returns the usage up to `until` that is on no invoice yet, and the invoice lines for it. */
export async function usageLines(
  tx: Tx,
  customer: LedgerCustomer,
  { subscription, plan, until }: { subscription: LedgerSubscription; plan: BillingPlan; until: Date },
): Promise<{ lines: InvoiceLine[]; charges: string[] }> {
  if (plan.usage_prices.length === 0) return { lines: [], charges: [] }
  // The clock of a workspace may be ahead of the recorded time of usage.
  const taken = await tx.rows<Taken>(
    `select charge_id, meter, quantity from usage_charges where workspace_id = $1 and subscription_id = $2 and invoice_id is null
       and at + make_interval(secs => $3) < $4 for update`,
    [customer.workspace_id, subscription.subscription_id, customer.clock_ahead_s, until],
  )
  const period = { start: subscription.current_period_start, end: until }
  const lines = plan.usage_prices.flatMap((price) => {
    const used = taken.reduce((sum, { meter, quantity }) => sum + (meter === price.meter ? quantity : 0), 0)
    return used > 0 ? [usageLine(price, used, period)] : []
  })
  return { lines, charges: taken.map(({ charge_id }) => charge_id) }
}

export const markInvoiced = (tx: Tx, workspaceId: string, invoiceId: string, charges: string[]): Promise<number> =>
  tx.count('update usage_charges set invoice_id = $2 where workspace_id = $1 and charge_id = any ($3::uuid[])', [
    workspaceId,
    invoiceId,
    charges,
  ])
