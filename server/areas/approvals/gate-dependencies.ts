import type { Engine } from '#engine/ports'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { Gate } from './store.ts'

/** Returns the datasets that the execution read and that have changed since. Null if there are none. */
export type FingerprintCheck = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
) => Promise<{ message: string; details: Json } | null>

export type GateDependencies = {
  db: Database
  engine: () => Pick<Engine, 'send'>
  changedDatasets: FingerprintCheck
  /** A hint that reviews by agents are due now. */
  onAgentsAsked(): void
  /** Called in the transaction that opens the gate, so that a conversation can say what it waits for. */
  onOpened?(tx: Tx, gate: Pick<Gate, 'workspace_id' | 'request_id' | 'execution_id' | 'title'>): Promise<void>
}

export const inWorkspace = (workspaceId: string) => ({ workspaceId, userId: null })
