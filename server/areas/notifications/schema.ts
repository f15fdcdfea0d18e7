import { z } from 'zod'
import { idList } from '#platform/http/bulk'
import { anyId, anyText, defineList } from '#platform/http/list'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'

export const Notification = z
  .object({
    notification_id: id('ntf'),
    user_id: id('usr'),
    workspace_id: id('ws').nullable(),
    kind: z.string(),
    title: z.string(),
    body: z.string().nullable(),
    data: jsonObject(),
    link: z.string().nullable(),
    read: z.boolean(),
    read_at: timestamp().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'Notification' })
export type Notification = z.input<typeof Notification>

const MAX_TITLE_LENGTH = 200

const kind = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z0-9_]*([.-][a-z0-9_]+)*$/, 'must be lower-case words joined by dots, such as invoice.due')

/** A path inside the console, or an http(s) URL. The console renders it as a link, so it must not be a script. */
const link = z
  .string()
  .max(2000)
  .refine(
    (text) => /^\/(?![/\\])/.test(text) || (/^https?:\/\//i.test(text) && URL.canParse(text)),
    'must be a path beginning with one slash, or an http or https address',
  )

export const NewNotification = z
  .strictObject({
    kind: kind.default('note'),
    title: z.string().trim().min(1).max(MAX_TITLE_LENGTH).optional(),
    body: z.string().max(10_000).nullable().optional(),
    data: jsonObject().optional(),
    link: link.nullable().optional(),
    /** The caller's own id. Any other id is refused. */
    user_id: reference('usr').optional(),
  })
  .refine(({ title, body }) => title !== undefined || Boolean(body?.trim()), {
    path: ['title'],
    message: 'is required if there is no body',
  })

/** Returns the title of a notification that has only a body: the first line of the body. */
export const titleFrom = (body: string): string => body.trim().split(/\r?\n/, 1)[0]!.slice(0, MAX_TITLE_LENGTH).trim()

export const NotificationPatch = z.strictObject({ read: z.boolean().optional() })

const ofWorkspace = () => reference('ws').optional().describe('Only those of this workspace')

/**
 * The maximum number of notifications that one call marks as read or deletes. Each adds an entry to the person's feed.
 */
export const MAX_CHANGED = 5_000

export const MarkRead = z
  .strictObject({
    notification_ids: idList('ntf').optional().describe('Only these notifications; default: all unread ones'),
    up_to: reference('ntf')
      .optional()
      .describe('Only this one and older ones, so that newer notifications stay unread'),
    workspace_id: ofWorkspace(),
  })
  .meta({ id: 'MarkRead' })

export const DeleteSeveral = z
  .strictObject({
    notification_ids: idList('ntf').optional(),
    all_read: z.literal(true).optional().describe('All that have been read, instead of `notification_ids`'),
    workspace_id: ofWorkspace(),
  })
  .refine(({ notification_ids, all_read }) => (notification_ids === undefined) !== (all_read === undefined), {
    message: 'exactly one of notification_ids and all_read is required',
    path: ['notification_ids'],
  })
  .meta({ id: 'DeleteNotifications' })

export const Changed = z
  .object({
    changed: z.number().int().describe('How many were changed or deleted'),
    more: z.boolean().describe(`True after ${MAX_CHANGED}, the most of one call: repeat it until it is false`),
  })
  .meta({ id: 'NotificationsChanged' })

export const notificationList = defineList({
  id: 'notification_id',
  search: ['title', 'body'],
  sort: { created_at: 'id' },
  order: '-created_at',
  idsByTime: true,
  filters: {
    kind: anyText('Only those of this kind, or one of several, separated by commas'),
    workspace_id: anyId('ws', 'Only those of this workspace'),
  },
})
export const notificationQuery = notificationList.query.extend({ unread: z.enum(['true', 'false']).optional() })
