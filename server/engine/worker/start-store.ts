import type { ExecutionStatus, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import type { ExecutionRow } from './claim-store.ts'
import { runStatement } from './run-statement.ts'

// The queries before an execution is started.

/** The labels by which a caller finds and orders executions. */
export type Labelled = {
  priority: number | null
  tags: string[] | null
  metadata: JsonObject | null
  scheduled_at: Date | null
}

export const startStatements = (db: Pick<Database, 'enginePool'>) => {
  const query = <Row>(name: string, text: string, values: unknown[]) =>
    runStatement<Row>(db.enginePool, name, text, values)
  return {
    keyHolder: async (credentialHash: Buffer, keyHash: Buffer) =>
      (
        await query<{ execution_id: string; workspace_id: string; body_sha256: Buffer; status: string }>(
          'key',
          `select k.execution_id, k.workspace_id, k.body_sha256, e.status from start_keys k
             left join executions e using (workspace_id, execution_id)
           where k.credential_hash = $1 and k.key_hash = $2 and k.created_at > now() - interval '24 hours'`,
          [credentialHash, keyHash],
        )
      )[0],
    statusOf: async (workspaceId: string, executionId: string): Promise<ExecutionStatus | undefined> =>
      (
        await query<{ status: ExecutionStatus }>(
          'status',
          'select status from executions where workspace_id = $1 and execution_id = $2',
          [workspaceId, executionId],
        )
      )[0]?.status,
    isGone: async (workspaceId: string): Promise<boolean> =>
      (await query('gone', 'select from gone_workspaces where workspace_id = $1', [workspaceId])).length > 0,
    /** Returns how an execution was started, to start it again. */
    startOf: async (workspaceId: string, executionId: string) =>
      (
        await query<
          Pick<
            ExecutionRow,
            'definition_ref' | 'workflow_id' | 'version_id' | 'system_slug' | 'timeout_s' | 'principal_id'
          > &
            Labelled
        >(
          'start-of',
          `select definition_ref, workflow_id, version_id, system_slug, timeout_s, principal_id, priority, tags, metadata, scheduled_at
           from executions where workspace_id = $1 and execution_id = $2`,
          [workspaceId, executionId],
        )
      )[0],
    queueDepth: async (workspaceId: string, limit: number): Promise<number> =>
      (
        await query<{ depth: number }>(
          'depth',
          `select count(*)::integer as depth from (
             select from executions where workspace_id = $1 and status = 'queued' limit $2) as queued`,
          [workspaceId, limit],
        )
      )[0]?.depth ?? 0,
    /** Returns the number of executions that the rules of their workflows keep waiting, up to `limit`. */
    gateDepth: async (workspaceId: string, limit: number): Promise<number> =>
      (
        await query<{ depth: number }>(
          'gate-depth',
          `select count(*)::integer as depth from (
             select from executions where workspace_id = $1 and status = 'waiting' and held = false limit $2) as gated`,
          [workspaceId, limit],
        )
      )[0]?.depth ?? 0,
  }
}
