import { CredentialRefused } from '#areas/credentials/use'
import { NodeFailure } from '#engine/node'
import type { Database } from '#platform/db/pool'
import type { HookAddresses } from './hook-address.ts'
import * as hooks from './hook-store.ts'
import { findCalled, removeUnconfirmed, unregister, type VendorParts } from './hook-vendor.ts'
import { leftOf } from './registering.ts'
import type { Within } from './starts.ts'

// Removes the registration of a deleted trigger at the vendor. Retried for about a day; the address is refused in any
// case.

const MAX_ATTEMPTS = 6

type RemovalParts = VendorParts & { db: Database; addresses: HookAddresses }

export async function removeHook(
  parts: RemovalParts,
  { workspace_id, removal_id }: { workspace_id: string; removal_id: string },
): Promise<void> {
  const within: Within = (work) => parts.db.tenant({ workspaceId: workspace_id, userId: null }, work)
  const row = await within((tx) => hooks.claimRemoval(tx, workspace_id, removal_id))
  if (!row) return
  const called = await findCalled(parts, within, workspace_id, row)
  const about = {
    workspaceId: workspace_id,
    args: row.args,
    store: row.store,
    credentialId: row.credential_id,
    userId: row.principal_id,
  }
  try {
    if (called && row.registered) await unregister(parts, called, about, '')
    const left = row.unconfirmed_trigger_id
    if (called && left !== null)
      await removeUnconfirmed(parts, called, about, leftOf(parts, { workspace_id, trigger_id: left }, row.exchanges))
  } catch (error) {
    const isKnown = error instanceof NodeFailure || error instanceof CredentialRefused
    if (!isKnown) throw error
    if (row.attempts < MAX_ATTEMPTS && mayWorkLater(error)) return
  }
  await within((tx) => hooks.endRemoval(tx, workspace_id, removal_id))
}

/** An unknown registration or a deleted credential is permanent, so retrying does not help. */
const mayWorkLater = (error: unknown): boolean => error instanceof NodeFailure && error.code !== 'service_refused'
