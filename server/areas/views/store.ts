import type { Tx } from '#platform/db/pool'
import type { SavedViews } from './schema.ts'

export const findViews = (tx: Tx, workspaceId: string, userId: string): Promise<SavedViews | undefined> =>
  tx.maybe<SavedViews>('select views from saved_views where workspace_id = $1 and user_id = $2', [workspaceId, userId])

export const putViews = (tx: Tx, workspaceId: string, userId: string, views: SavedViews['views']): Promise<number> =>
  tx.count(
    `insert into saved_views (workspace_id, user_id, views) values ($1, $2, $3::jsonb)
     on conflict (workspace_id, user_id) do update set views = excluded.views`,
    [workspaceId, userId, JSON.stringify(views)],
  )
