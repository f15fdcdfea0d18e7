import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'

// The plans of a new org: enough for a busy team on one machine, with limits on what a stranger could abuse. Operators
// can change them (PATCH /api/payments/plans/{plan_id}). The defaults for quotas that the plans do not set are in
// allowances.ts.

const GIBIBYTE = 2 ** 30

const plans = [
  {
    name: 'Free',
    amount: 0,
    quotas: {
      runs_per_month: 1_000_000,
      members: 100,
      storage_bytes: 20 * GIBIBYTE,
      records: 10_000_000,
      cpu_s_per_minute: 60,
    },
    features: ['Every node and every area', 'Community support'],
  },
  {
    name: 'Team',
    amount: 4_900,
    quotas: {
      runs_per_month: 10_000_000,
      members: 1_000,
      storage_bytes: 200 * GIBIBYTE,
      records: 100_000_000,
      cpu_s_per_minute: 240,
    },
    features: ['Everything in Free', 'E-mail support'],
  },
  {
    name: 'Business',
    amount: 19_900,
    quotas: { runs_per_month: null, members: null, storage_bytes: null, records: null, cpu_s_per_minute: null },
    features: ['Everything in Team', 'No quotas', 'Priority support'],
  },
]

/** Creates the first plans of an org. An org that has or had plans is not changed. */
export async function seedPlans(tx: Pick<Tx, 'count'>, orgId: string): Promise<void> {
  const rows = plans.map((plan) => ({ ...plan, plan_id: newId(), org_id: orgId, currency: 'eur', interval: 'month' }))
  await tx.count(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas, features)
     select plan_id, org_id, name, amount, currency, "interval", quotas, features
     from jsonb_to_recordset($1::jsonb) as row (plan_id uuid, org_id uuid, name text, amount integer, currency text,
       "interval" text, quotas jsonb, features jsonb)
     where not exists (select from plans where org_id = $2::uuid)`,
    [JSON.stringify(rows), orgId],
  )
}
