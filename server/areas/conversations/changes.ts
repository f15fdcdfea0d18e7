import type { Tx } from '#platform/db/pool'

export const CONVERSATION_HINTS = 'conversations'

/** Wakes those who look at conversations of the workspace. */
export const hintChange = (tx: Tx, workspaceId: string): void => tx.hint(CONVERSATION_HINTS, workspaceId)
