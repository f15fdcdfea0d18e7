import type { Tx } from '#platform/db/pool'

/**
 * Lets an area transfer or remove what a leaving person had in it. Runs in the same transaction, before the person
 * leaves or becomes a guest. Guests see only what others share with them.
 */
export type OnMemberRemoved = (
  tx: Tx,
  removed: { workspaceId: string; userId: string; byUserId: string },
) => Promise<void>
