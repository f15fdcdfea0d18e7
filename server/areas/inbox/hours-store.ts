import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { OpeningHours } from './schema.ts'

export const findHours = (tx: Tx, workspaceId: string, templateId: string | null): Promise<OpeningHours | undefined> =>
  tx.maybe<OpeningHours>(
    'select hours, updated_at from opening_hours where workspace_id = $1 and template_id is not distinct from $2',
    [workspaceId, templateId],
  )

export const putHours = (tx: Tx, workspaceId: string, templateId: string | null, hours: string): Promise<number> =>
  tx.count(
    `insert into opening_hours (workspace_id, hours_id, template_id, hours) values ($1, $2, $3, $4)
     on conflict (workspace_id, template_id) do update set hours = excluded.hours, updated_at = now()`,
    [workspaceId, newId(), templateId, hours],
  )

export const deleteHours = (tx: Tx, workspaceId: string, templateId: string | null): Promise<number> =>
  tx.count('delete from opening_hours where workspace_id = $1 and template_id is not distinct from $2', [
    workspaceId,
    templateId,
  ])
