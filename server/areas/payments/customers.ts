import { createHash } from 'node:crypto'
import type { Tx } from '#platform/db/pool'
import { type Context, scopeOf } from '#platform/http/context'
import { keyOwnerOf } from '#platform/http/idempotency'
import { newId } from '#platform/ids'
import type { BillingProvider, Customer } from '#providers/billing/index'
import type { Cache } from './cache.ts'
import type { Leases } from './lease.ts'
import * as store from './store.ts'

export type BillingParts = { provider: BillingProvider; cache: Cache; leases: Leases }

/**
 * Returns the key of a request to the provider. A request repeated with its Idempotency-Key gets the same key, on every
 * server and after a crash. A request without an Idempotency-Key, by another credential or with another `wanted` gets a
 * different key.
 */
const requestKeyOf = (ctx: Context, wanted: string): string =>
  ctx.idempotencyKey === null
    ? newId()
    : createHash('sha256')
        .update(`${keyOwnerOf(ctx.credential, ctx.person.user_id, ctx.workspace.workspace_id)}\n${wanted}\n`)
        .update(ctx.idempotencyKey)
        .digest('base64url')

export const inTransaction = <T>(ctx: Context, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.db.tenant(scopeOf(ctx), work)

export type Change = { customer: Customer; row: store.CustomerRow; requestKey: string }

/**
 * Runs a change of a customer at the provider: creates the customer if there is none, serializes changes, and refreshes
 * our copy afterwards. The built-in ledger has its own lock and no copy. `wanted` distinguishes requests that must not
 * share an idempotency key.
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
    // The outcome is unknown, so the next read refreshes the copy from the provider.
    await inTransaction(ctx, (tx) => store.markOutdated(tx, workspaceId, provider.name)).catch(() => {})
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
