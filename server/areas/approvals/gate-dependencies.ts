import type { Engine } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { Gate } from './store.ts'

/** Names the datasets the execution read that have changed since, or null. */
export type FingerprintCheck = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
) => Promise<{ message: string; details: Json } | null>

export type GateDependencies = {
  db: Database
  engine: () => Pick<Engine, 'send'>
  changedDatasets: FingerprintCheck
  /** Agents owe votes now; a hint. */
  onAgentsAsked(): void
  /** In the transaction that opens the gate: a conversation says what it waits for. */
  onOpened?(tx: Tx, gate: Pick<Gate, 'workspace_id' | 'request_id' | 'execution_id' | 'title'>): Promise<void>
}

export const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })
