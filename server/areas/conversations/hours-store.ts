import type { Tx } from '#platform/db/pool'
import type { Hours } from './hours.ts'

/**
 * Returns the hours of the template, or of the workspace if the template has none. Null if people may answer at any
 * time.
 */
export const findHours = async (tx: Tx, workspaceId: string, templateId: string | null): Promise<Hours | null> =>
  (
    await tx.maybe<{ hours: Hours }>(
      `select hours from opening_hours where workspace_id = $1 and (template_id is null or template_id = $2)
       order by template_id nulls last limit 1`,
      [workspaceId, templateId],
    )
  )?.hours ?? null
