import type { Feature } from '../feature.ts'

/** Reached through the bell. */
export const notifications: Feature = {
  pages: [
    { path: '/notifications', page: [() => import('./list.tsx'), 'NotificationsPage'] },
    { path: '/notifications/$notification_id', page: [() => import('./notification.tsx'), 'NotificationPage'] },
  ],
}
