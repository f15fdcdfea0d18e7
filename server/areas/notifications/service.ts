import type { z } from 'zod'
import type { FindAccessLevel } from '#platform/access/check'
import { requireUnbound } from '#platform/auth/scope'
import { problem, readOnly } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { newId } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import { issueTicket } from '#platform/realtime/tickets'
import {
  type DeleteSeveral,
  MAX_CHANGED,
  type MarkRead,
  type NewNotification,
  type Notification,
  type NotificationPatch,
  type notificationQuery,
  titleFrom,
} from './schema.ts'
import * as store from './store.ts'

type ById = { notification_id: string }

export const accessLevelInNotification: FindAccessLevel = async (ctx, notificationId) =>
  (await store.findNotification(ctx.tx, ctx.person.user_id, notificationId)) && 'owner'

export const getNotification = async (ctx: Context, { notification_id }: ById): Promise<Notification> => {
  const found = await store.findNotification(ctx.tx, ctx.person.user_id, notification_id)
  if (!found) throw problem('not_found')
  return found
}

export async function listNotifications(ctx: Context, query: z.output<typeof notificationQuery>) {
  const asked = { ...query, unread: query.unread === 'true' }
  return ctx.person.operator
    ? listAsOperator(ctx, 'notifications', (tx) => store.listAllNotifications(tx, asked))
    : store.listNotifications(ctx.tx, ctx.person.user_id, asked)
}

/** Creates a notification for the caller. The platform notifies people with deliverEvent. */
export async function createNotification(ctx: Context, input: z.output<typeof NewNotification>): Promise<Notification> {
  const { user_id } = ctx.person
  if (input.user_id !== undefined && input.user_id !== user_id) throw readOnly(['user_id'])
  const made = await store.insertNotification(ctx.tx, user_id, {
    notification_id: newId(),
    workspace_id: ctx.maybeWorkspace?.workspace_id ?? null,
    kind: input.kind,
    title: input.title ?? titleFrom(input.body!),
    body: input.body ?? null,
    data: input.data ?? {},
    link: input.link ?? null,
  })
  await store.appendToFeed(ctx.tx, ctx.person.user_id, 'notification.created', made.notification_id)
  return made
}

export async function updateNotification(
  ctx: Context,
  { notification_id, read }: ById & z.output<typeof NotificationPatch>,
): Promise<Notification> {
  const changed = read !== undefined && (await store.setRead(ctx.tx, ctx.person.user_id, notification_id, read))
  if (!changed) return getNotification(ctx, { notification_id })
  await store.appendToFeed(ctx.tx, ctx.person.user_id, 'notification.updated', notification_id)
  return changed
}

export async function deleteNotification(ctx: Context, { notification_id }: ById): Promise<void> {
  if ((await store.deleteNotification(ctx.tx, ctx.person.user_id, notification_id)) > 0)
    await store.appendToFeed(ctx.tx, ctx.person.user_id, 'notification.deleted', notification_id)
}

export async function createTicket(ctx: Context) {
  requireUnbound(ctx)
  return issueTicket(ctx, { kind: 'notifications', resource: ctx.person.user_id, path: '/ws/notifications' })
}

/** Marks the newest first, so that the notifications beyond the limit of one call are the oldest. */
export async function readNotifications(ctx: Context, input: z.output<typeof MarkRead>) {
  const { user_id } = ctx.person
  const ids = await store.setSeveralRead(ctx.tx, user_id, {
    ids: input.notification_ids ?? null,
    upTo: input.up_to ?? null,
    workspaceId: input.workspace_id ?? null,
    limit: MAX_CHANGED,
  })
  await store.appendSeveralToFeed(ctx.tx, user_id, 'notification.updated', ids)
  return { changed: ids.length, more: ids.length === MAX_CHANGED }
}

export async function deleteNotifications(ctx: Context, input: z.output<typeof DeleteSeveral>) {
  const { user_id } = ctx.person
  const ids = await store.deleteSeveral(ctx.tx, user_id, {
    ids: input.notification_ids ?? null,
    workspaceId: input.workspace_id ?? null,
    limit: MAX_CHANGED,
  })
  await store.appendSeveralToFeed(ctx.tx, user_id, 'notification.deleted', ids)
  return { changed: ids.length, more: ids.length === MAX_CHANGED }
}
