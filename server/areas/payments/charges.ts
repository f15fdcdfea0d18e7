import type { Database, Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { newId } from '#platform/ids'
import type { BillingProvider, Meter } from '#providers/billing/index'
import { chargeList, type UsageCharge } from './schema.ts'
import { findCustomer } from './store.ts'

// Usage that is charged for. Each charge names its execution, and its invoice with the line.

export const listCharges = (ctx: Context, asked: ListInput) =>
  readList<UsageCharge & { charge_id: string }>(ctx.tx, chargeList, asked, {
    sql: `select u.charge_id, u.meter, u.at, u.quantity, u.quantity * price.unit_amount / price.per as amount, p.currency, u.plan_id,
        u.model, u.execution_id, u.node_path, u.workflow_id, u.person_id as user_id, u.invoice_id
      from usage_charges u join plans p on p.plan_id = u.plan_id
        cross join lateral (select x.unit_amount, x.per from jsonb_to_recordset(p.usage_prices)
          as x (meter text, unit_amount double precision, per double precision) where x.meter = u.meter) as price
      where u.workspace_id = $1`,
    values: [ctx.workspace.workspace_id],
  })

/**
 * Reports usage to the provider. Batches are stored before they are sent: after a crash or a lost response, the same
 * batch is sent again under the same id, and the provider counts it once.
 */
export async function reportUsage(db: Database, provider: BillingProvider, workspaceId: string): Promise<void> {
  if (!provider.reportUsage) return
  const inWorkspace = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
  const customer = await inWorkspace(async (tx) => {
    await openBatches(tx, workspaceId, provider.name)
    return findCustomer(tx, workspaceId, provider.name)
  })
  if (!customer?.provider_ref) return
  const batches = await inWorkspace((tx) => listBatches(tx, workspaceId))
  for (const batch of batches) {
    await provider.reportUsage(
      { workspaceId, customerId: customer.customer_id, ref: customer.provider_ref },
      { id: batch.batch_id, meter: batch.meter, quantity: batch.quantity, at: batch.at },
    )
    await inWorkspace((tx) =>
      tx.count('update usage_charges set reported_at = now() where workspace_id = $1 and batch_id = $2', [
        workspaceId,
        batch.batch_id,
      ]),
    )
  }
}

type Batch = { batch_id: string; meter: Meter; quantity: number; at: Date }

/**
 * Assigns unreported usage to batches. A batch covers one minute, so that usage before the end of a period is reported
 * with a time before that end.
 */
async function openBatches(tx: Tx, workspaceId: string, provider: string): Promise<void> {
  const open = await tx.rows<{ meter: Meter; minute: Date }>(
    `select distinct u.meter, date_trunc('minute', u.at) as minute from usage_charges u
       join billing_subscriptions s on s.workspace_id = u.workspace_id and s.subscription_id = u.subscription_id
     where u.workspace_id = $1 and u.reported_at is null and u.batch_id is null and s.provider = $2`,
    [workspaceId, provider],
  )
  for (const { meter, minute } of open)
    await tx.count(
      `update usage_charges set batch_id = $4 where workspace_id = $1 and reported_at is null and batch_id is null and meter = $2
         and date_trunc('minute', at) = $3`,
      [workspaceId, meter, minute, newId()],
    )
}

const listBatches = (tx: Tx, workspaceId: string): Promise<Batch[]> =>
  tx.rows<Batch>(
    `select batch_id, meter, sum(quantity)::bigint as quantity, max(at) as at from usage_charges
     where workspace_id = $1 and reported_at is null and batch_id is not null group by 1, 2 order by 4`,
    [workspaceId],
  )

/** Assigns usage to the invoice with this line, by meter and time. */
export const noteInvoiced = (
  tx: Tx,
  workspaceId: string,
  invoiceId: string,
  line: { meter?: Meter | null; period_start: string; period_end: string },
): Promise<number> =>
  tx.count(
    `update usage_charges set invoice_id = $2 where workspace_id = $1 and invoice_id is null and batch_id is not null and meter = $3
       and at >= $4 and at < $5`,
    [workspaceId, invoiceId, line.meter, line.period_start, line.period_end],
  )
