import type { Tx } from '#platform/db/pool'
import { FEED_HINTS } from '#platform/events'
import { type ListInput, readList } from '#platform/http/list'
import { type Notification, notificationList } from './schema.ts'

// A person's own notifications, from all their workspaces. Notifications of a workspace that the person has left are
// not shown, and neither are those of a workspace that requires a second factor which the person does not have. For a
// key that is bound to one workspace, row security limits the list to that workspace.

const columns = `notification_id, user_id, workspace_id, kind, title, body, data, link, read_at is not null as read, read_at,
  created_at`

const own = `user_id = $1 and (workspace_id is null
  or workspace_id in (select m.workspace_id from memberships m where m.user_id = $1 and factor_satisfied(m.workspace_id)))`

export const findNotification = (tx: Tx, userId: string, notificationId: string): Promise<Notification | undefined> =>
  tx.maybe<Notification>(`select ${columns} from notifications where ${own} and notification_id = $2`, [
    userId,
    notificationId,
  ])

export type NotificationsAsked = ListInput & { unread: boolean }

export const listNotifications = (tx: Tx, userId: string, { unread, ...asked }: NotificationsAsked) =>
  readList<Notification>(tx, notificationList, asked, {
    sql: `select ${columns} from notifications where ${own} ${unread ? 'and read_at is null' : ''}`,
    values: [userId],
  })

export const listAllNotifications = (tx: Tx, { unread, ...asked }: NotificationsAsked) =>
  readList<Notification>(tx, notificationList, asked, {
    sql: `select ${columns} from notifications ${unread ? 'where read_at is null' : ''}`,
    values: [],
  })

export type NewRow = {
  notification_id: string
  workspace_id: string | null
  kind: string
  title: string
  body: string | null
  data: Record<string, unknown>
  link: string | null
}

export const insertNotification = (tx: Tx, userId: string, row: NewRow): Promise<Notification> =>
  tx.row<Notification>(
    `insert into notifications (user_id, notification_id, workspace_id, kind, title, body, data, link)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [userId, row.notification_id, row.workspace_id, row.kind, row.title, row.body, row.data, row.link],
  )

/** Returns undefined if the notification was in that state already. */
export const setRead = (
  tx: Tx,
  userId: string,
  notificationId: string,
  read: boolean,
): Promise<Notification | undefined> =>
  tx.maybe<Notification>(
    `update notifications set read_at = case when $3 then now() end
     where user_id = $1 and notification_id = $2 and (read_at is not null) <> $3 returning ${columns}`,
    [userId, notificationId, read],
  )

export const deleteNotification = (tx: Tx, userId: string, notificationId: string): Promise<number> =>
  tx.count('delete from notifications where user_id = $1 and notification_id = $2', [userId, notificationId])

type Several = { ids: string[] | null; workspaceId: string | null; limit: number }

/**
 * Returns the ids of the notifications that became read. Locks rows in a fixed order, so that concurrent calls do not
 * deadlock.
 */
export const setSeveralRead = async (
  tx: Tx,
  userId: string,
  { ids, upTo, workspaceId, limit }: Several & { upTo: string | null },
): Promise<string[]> => {
  const rows = await tx.rows<{ notification_id: string }>(
    `with wanted as materialized (
       select notification_id from notifications where ${own} and read_at is null
         and ($2::uuid[] is null or notification_id = any ($2)) and ($3::uuid is null or notification_id <= $3)
         and ($4::uuid is null or workspace_id = $4)
       order by notification_id desc limit $5 for no key update)
     update notifications n set read_at = now() from wanted w
     where n.user_id = $1 and n.notification_id = w.notification_id returning n.notification_id`,
    [userId, ids, upTo, workspaceId, limit],
  )
  return rows.map(({ notification_id }) => notification_id)
}

/** Deletes all read notifications if `ids` is null. */
export const deleteSeveral = async (
  tx: Tx,
  userId: string,
  { ids, workspaceId, limit }: Several,
): Promise<string[]> => {
  const rows = await tx.rows<{ notification_id: string }>(
    `with wanted as materialized (
       select notification_id from notifications where ${own} and (notification_id = any ($2) or ($2::uuid[] is null and read_at is not null))
         and ($3::uuid is null or workspace_id = $3)
       order by notification_id desc limit $4 for update)
     delete from notifications n using wanted w
     where n.user_id = $1 and n.notification_id = w.notification_id returning n.notification_id`,
    [userId, ids, workspaceId, limit],
  )
  return rows.map(({ notification_id }) => notification_id)
}

/** As appendToFeed, for several notifications with one update of the sequence number. */
export async function appendSeveralToFeed(tx: Tx, userId: string, type: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.rows('select append_own_feed_entries($1, $2)', [type, ids])
  tx.hint(FEED_HINTS, userId)
}

/** Call it in the transaction of the change, so that sequence numbers are in commit order. */
export async function appendToFeed(tx: Tx, userId: string, type: string, notificationId: string): Promise<void> {
  await tx.rows('select append_own_feed($1, $2)', [type, { notification_id: notificationId }])
  tx.hint(FEED_HINTS, userId)
}

export type FeedState = { seq: number; unread: number; items: Notification[] | null }

/** The highest unread count that is reported. Counting 50,000 took 120 ms. */
const MAX_COUNTED = 1000

/** Reads the sequence number of the feed and the content of the bell in one statement, so that both are consistent. */
export const readFeedState = (tx: Tx, userId: string, newest: number): Promise<FeedState> =>
  tx.row<FeedState>(
    `select coalesce((select last_seq from feed_counters where user_id = $1), 0) as seq,
       (select count(*)::int from (select from notifications where ${own} and read_at is null limit ${MAX_COUNTED}) n) as unread,
       (select json_agg(n) from (
         select ${columns} from notifications where ${own} order by notification_id desc limit $2) n) as items`,
    [userId, newest],
  )
