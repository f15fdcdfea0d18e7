import type { Tx } from '#platform/db/pool'

export const findDefinitionSha256 = async (tx: Tx, workspaceId: string, versionId: string): Promise<string | null> => {
  const row = await tx.maybe<{ sha256: string }>(
    'select sha256 from workflow_versions where workspace_id = $1 and version_id = $2',
    [workspaceId, versionId],
  )
  return row?.sha256 ?? null
}
