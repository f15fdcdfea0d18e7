import type { Tx } from '#platform/db/pool'

export const CONVERSATION_HINTS = 'conversations'

/** Wakes the listeners of the workspace's conversations. */
export const hintChange = (tx: Tx, workspaceId: string): void => tx.hint(CONVERSATION_HINTS, workspaceId)
