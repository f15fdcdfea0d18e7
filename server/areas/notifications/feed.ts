import type { Database } from '#platform/db/pool'
import { FEED_HINTS } from '#platform/events'
import { compileEncoder } from '#platform/http/schema'
import { toWire } from '#platform/ids'
import { type Feed, type Frame, withGaps } from '#platform/realtime/feed'
import { Notification } from './schema.ts'
import { readFeedState } from './store.ts'

// The feed of one person, from all their workspaces: notification.created, .updated and .deleted. A frame shows the
// notification as it is when the frame is sent. If the notification is deleted, or belongs to a workspace that the
// person has left or that requires a second factor which the person does not have, the frame contains only the id.

const NEWEST_IN_SNAPSHOT = 20

const encode = compileEncoder(Notification)!

type Row = Omit<Notification, 'read' | 'notification_id'> & {
  request: number
  last_seq: number
  seq: number | null
  type: string
  at: Date
  subject_id: string
  notification_id: string | null
}

export function notificationFeed(db: Database): Feed {
  return {
    path: '/ws/notifications',
    hintChannel: FEED_HINTS,

    authorise: async (viewers) =>
      viewers.map((viewer) => (viewer.resource === viewer.user_id ? 'allowed' : 'withdrawn')),

    snapshot: ({ user_id }) =>
      db.tenant({ workspaceId: null, userId: user_id }, async (tx) => {
        const { seq, unread, items } = await readFeedState(tx, user_id, NEWEST_IN_SNAPSHOT)
        return { seq, data: { unread, items: (items ?? []).map(withWireTimes).map(encode) } }
      }),

    async read(requests, most) {
      const { rows } = await db.appPool.query<Row>({
        name: 'read_feeds',
        text: 'select * from read_feeds($1, $2, $3)',
        values: [requests.map(({ resource }) => resource), requests.map(({ after }) => after), most],
      })
      const found = new Map<number, Row[]>()
      for (const row of rows) {
        const of = found.get(row.request)
        if (of) of.push(row)
        else found.set(row.request, [row])
      }
      return requests.map(({ after }, at) => {
        const of = found.get(at + 1)
        return of ? withGaps(after, of[0]!.last_seq, of.flatMap(frameOf), most) : []
      })
    },
  }
}

function frameOf(row: Row): Frame[] {
  if (row.seq === null) return []
  const { request: _request, last_seq: _last, seq, type, at, subject_id, ...rest } = row
  const data =
    rest.notification_id === null
      ? { notification_id: toWire('ntf', subject_id) }
      : encode({ ...rest, read: rest.read_at !== null })
  return [{ seq, type, at, data }]
}

/** Parses the times, which PostgreSQL's JSON functions write in their own format. */
const withWireTimes = (item: Notification): Notification => ({
  ...item,
  created_at: new Date(item.created_at),
  read_at: item.read_at === null ? null : new Date(item.read_at),
})
