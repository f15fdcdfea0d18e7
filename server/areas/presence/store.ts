import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Colleague, colleagueList, type ListedPresence, type Presence, presenceList } from './schema.ts'

/** How long a heartbeat is valid. The database's clock decides, so that all servers agree. */
const EXPIRES_AFTER = '60 seconds'

const columns = `presence_id, workspace_id, user_id, case when expires_at <= now() then 'offline' else status end as status,
  context, last_seen_at, expires_at`

/** Writes the only row of a person in a workspace, and returns whether the row is new. */
export const upsertPresence = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  row: { presence_id: string; status: string; context: unknown },
): Promise<Presence & { made: boolean }> =>
  tx.row<Presence & { made: boolean }>(
    `insert into presence (workspace_id, user_id, presence_id, status, context, last_seen_at, expires_at)
     values ($1, $2, $3, $4, $5::jsonb, now(), now() + interval '${EXPIRES_AFTER}')
     on conflict (workspace_id, user_id) do update set status = excluded.status, context = excluded.context,
       last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at
     returning ${columns}, xmax = 0 as made`,
    [workspaceId, userId, row.presence_id, row.status, row.context === null ? null : JSON.stringify(row.context)],
  )

export const findPresence = (tx: Tx, userId: string, presenceId: string): Promise<Presence | undefined> =>
  tx.maybe<Presence>(`select ${columns} from presence where user_id = $1 and presence_id = $2`, [userId, presenceId])

export const listPresence = (tx: Tx, userId: string, asked: ListInput) =>
  readList<Presence>(tx, presenceList, asked, {
    sql: `select ${columns} from presence where user_id = $1`,
    values: [userId],
  })

export const listAllPresence = (tx: Tx, asked: ListInput) =>
  readList<ListedPresence>(tx, presenceList, asked, {
    sql: `select ${columns}, (select u.name from users u where u.user_id = p.user_id) as name,
        (select w.name from workspaces w where w.workspace_id = p.workspace_id) as workspace_name
      from presence p`,
    values: [],
  })

export const listColleagues = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<Colleague>(tx, colleagueList, asked, {
    sql: `select ${columns}, u.name from presence join users u using (user_id) where workspace_id = $1`,
    values: [workspaceId],
  })

export const deletePresence = (tx: Tx, userId: string, presenceId: string): Promise<number> =>
  tx.count('delete from presence where user_id = $1 and presence_id = $2', [userId, presenceId])
