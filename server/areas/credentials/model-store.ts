import type { Tx } from '#platform/db/pool'

export type WorkspaceModelRow = { credential_id: string | null; fallback_credential_id: string | null }

export const findWorkspaceModel = (tx: Tx, workspaceId: string): Promise<WorkspaceModelRow | undefined> =>
  tx.maybe<WorkspaceModelRow>(
    'select credential_id, fallback_credential_id from workspace_models where workspace_id = $1',
    [workspaceId],
  )

export const setWorkspaceModel = (
  tx: Tx,
  workspaceId: string,
  { credential_id, fallback_credential_id }: WorkspaceModelRow,
  setBy: string,
): Promise<number> =>
  tx.count(
    `insert into workspace_models (workspace_id, credential_id, fallback_credential_id, set_by) values ($1, $2, $3, $4)
     on conflict (workspace_id) do update set credential_id = excluded.credential_id,
       fallback_credential_id = excluded.fallback_credential_id, set_by = excluded.set_by, updated_at = now()`,
    [workspaceId, credential_id, fallback_credential_id, setBy],
  )
