import type { Tx } from '#platform/db/pool'

/**
 * Lets an area pass on, or take away, what a person who leaves had in it; runs in the same transaction, before they go, or
 * before they become a guest: guests see only what others let them into.
 */
export type OnMemberRemoved = (
  tx: Tx,
  removed: { workspaceId: string; userId: string; byUserId: string },
) => Promise<void>
