import { z } from 'zod'
import { id, jsonObject, listQuery, reference, timestamp } from '#platform/http/schema'

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

/** A path inside the console, or an address of the web: a link is shown as one, so it must not be a script. */
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
    /** Nobody but oneself: another's is refused. */
    user_id: reference('usr').optional(),
  })
  .refine(({ title, body }) => title !== undefined || Boolean(body?.trim()), {
    path: ['title'],
    message: 'is needed where there is no body',
  })

/** What is shown where only a body was given: its first line. */
export const titleFrom = (body: string): string => body.trim().split(/\r?\n/, 1)[0]!.slice(0, MAX_TITLE_LENGTH).trim()

export const NotificationPatch = z.strictObject({ read: z.boolean().optional() })

export const notificationQuery = listQuery.extend({ unread: z.enum(['true', 'false']).optional() })
