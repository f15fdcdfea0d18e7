import { owner, signedIn } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { IssuedTicket, socketOf } from '#platform/realtime/tickets'
import {
  Changed,
  DeleteSeveral,
  MarkRead,
  NewNotification,
  Notification,
  NotificationPatch,
  notificationQuery,
} from './schema.ts'
import * as notifications from './service.ts'

export const notificationRoutes = (): AnyRoute[] =>
  routes(
    'Notifications',
    {
      listNotifications: ['GET', '/api/notifications', signedIn],
      createNotification: ['POST', '/api/notifications', signedIn],
      readNotifications: ['POST', '/api/notifications/read', signedIn],
      deleteNotifications: ['POST', '/api/notifications/delete', signedIn],
      getNotification: ['GET', '/api/notifications/:notification_id', owner('notification')],
      updateNotification: ['PATCH', '/api/notifications/:notification_id', owner('notification')],
      deleteNotification: ['DELETE', '/api/notifications/:notification_id', owner('notification')],
      createNotificationTicket: ['POST', '/auth/notification-ticket', signedIn, 'read'],
    },
    {
      listNotifications: {
        summary: "The caller's own notifications (operators: all)",
        query: notificationQuery,
        answer: page(Notification),
        run: notifications.listNotifications,
      },
      createNotification: {
        summary: 'Create a notification for oneself',
        description: 'Without a title the first line of the body is taken.',
        body: NewNotification,
        answer: Notification,
        status: 201,
        location: ({ notification_id }) => `/api/notifications/${notification_id}`,
        examples: { body: { title: 'Call the bank', link: '/approvals' } },
        run: notifications.createNotification,
      },
      readNotifications: {
        summary: "Mark all of the caller's notifications as read, or several",
        description: 'Those that are read already, or not the caller’s, are left out.',
        body: MarkRead,
        answer: Changed,
        extension: true,
        examples: { body: {} },
        run: notifications.readNotifications,
      },
      deleteNotifications: {
        summary: "Delete several of the caller's notifications, or all that have been read",
        body: DeleteSeveral,
        answer: Changed,
        extension: true,
        examples: { body: { all_read: true } },
        run: notifications.deleteNotifications,
      },
      getNotification: {
        summary: "One of the caller's own",
        answer: Notification,
        run: notifications.getNotification,
      },
      updateNotification: {
        summary: 'Mark a notification as read or unread',
        body: NotificationPatch,
        answer: Notification,
        current: notifications.getNotification,
        examples: { body: { read: true } },
        run: notifications.updateNotification,
      },
      deleteNotification: {
        summary: "Delete one of the caller's own",
        status: 204,
        current: notifications.getNotification,
        run: notifications.deleteNotification,
      },
      createNotificationTicket: {
        summary: 'A ticket for the socket /ws/notifications: 30 seconds, single use',
        answer: IssuedTicket,
        status: 201,
        location: socketOf,
        extension: true,
        run: notifications.createTicket,
      },
    },
  )
