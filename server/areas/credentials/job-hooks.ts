import type { Tx } from '#platform/db/pool'

/** What jobs do when a credential changes, inside the transaction that changed it. */
export type CredentialJobHooks = {
  pauseJobsNaming(tx: Tx, workspaceId: string, credentialId: string): Promise<void>
  resumeJobsNaming(tx: Tx, workspaceId: string): Promise<void>
}
