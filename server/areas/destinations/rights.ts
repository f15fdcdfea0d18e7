import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { FindAccessLevel } from '#platform/access/check'
import { findDestination, switchOffOwnedBy } from './store.ts'

// A destination belongs to the person for whom it acts. Owners of the workspace may see any destination, delete it, and
// change it, which makes it their own. They see only the deliveries of their own destinations, because deliveries name
// executions that may be hidden from them.

export const accessLevelInDestination: FindAccessLevel = async (ctx, destinationId) => {
  if (ctx.maybeWorkspace === null) return undefined
  const row = await findDestination(ctx.tx, ctx.workspace.workspace_id, destinationId)
  if (!row) return undefined
  const { role } = ctx.workspace
  if (role === 'guest') return undefined
  if (row.owner_id === ctx.person.user_id) return role === 'viewer' ? 'viewer' : 'owner'
  return role === 'owner' ? 'visible' : undefined
}

export const accessLevelInOwnedDestination: FindAccessLevel = async (ctx, destinationId) => {
  const standing = await accessLevelInDestination(ctx, destinationId)
  return standing === 'visible' ? 'owner' : standing
}

/** Runs in the transaction in which a person leaves. Nothing more is sent in their name. */
export const stopDestinationsOf: OnMemberRemoved = async (tx, { workspaceId, userId }) => {
  await switchOffOwnedBy(tx, workspaceId, userId)
}
