import { createHash } from 'node:crypto'
import type { Tx } from '#platform/db/pool'
import { type Context, scopeOf } from '#platform/http/context'
import { holderOf } from '#platform/http/idempotency'
import { newId } from '#platform/ids'
import type { BillingProvider, Customer } from '#providers/billing/index'
import type { Cache } from './cache.ts'
import type { Leases } from './lease.ts'
import * as store from './store.ts'

export type BillingParts = { provider: BillingProvider; cache: Cache; leases: Leases }

/**
 * Names a request to the provider. The same request repeated with its Idempotency-Key has the same name, on every server and
 * after every crash; a request without a key, by another credential or for something else has one of its own.
 */
const requestKeyOf = (ctx: Context, wanted: string): string =>
  ctx.idempotencyKey === null
    ? newId()
    : createHash('sha256')
        .update(`${holderOf(ctx.credential, ctx.person.user_id, ctx.workspace.workspace_id)}\n${wanted}\n`)
        .update(ctx.idempotencyKey)
        .digest('base64url')

export const inTransaction = <T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.db.tenant(scopeOf(ctx), work)

export type Change = { customer: Customer; row: store.CustomerRow; requestKey: string }

/**
 * Around everything that changes a customer at the provider: makes the customer where there is none, lets one change happen at
 * a time, and reads the outcome back into our copy. The built-in ledger has its own lock and no copy. `wanted` tells requests
 * apart that must not be taken for one.
 */
export async function changing<T>(
  ctx: Context,
  parts: BillingParts,
  work: (change: Change) => Promise<T>,
  wanted = '',
): Promise<T> {
  const { provider, leases } = parts
  const { workspace_id: workspaceId } = ctx.workspace
  const requestKey = requestKeyOf(ctx, wanted)
  await inTransaction(ctx, (tx) => store.ensureCustomer(tx, workspaceId, provider.name, newId()))
  const perform = async (): Promise<T> => {
    const row = (await inTransaction(ctx, (tx) => store.findCustomer(tx, workspaceId, provider.name)))!
    const ref = row.provider_ref ?? (await createCustomer(ctx, provider, requestKey))
    return work({ customer: { workspaceId, customerId: row.customer_id, ref }, row, requestKey })
  }
  if (!provider.cached) return perform()
  try {
    return await leases.hold(workspaceId, requestKey, perform)
  } catch (error) {
    // What came of it is not known here: the next look reads it from the provider.
    await inTransaction(ctx, (tx) => store.distrustCopy(tx, workspaceId, provider.name)).catch(() => {})
    throw error
  }
}

async function createCustomer(ctx: Context, provider: BillingProvider, key: string): Promise<string> {
  const { workspace_id: workspaceId } = ctx.workspace
  const { name } = await inTransaction(ctx, (tx) =>
    tx.row<{ name: string }>('select name from workspaces where workspace_id = $1', [workspaceId]),
  )
  const ref = await provider.createCustomer({ workspaceId, name, email: ctx.person.email, key })
  await inTransaction(ctx, (tx) => store.setCustomerRef(tx, workspaceId, provider.name, ref))
  return ref
}
