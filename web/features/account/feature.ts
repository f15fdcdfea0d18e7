import type { Feature } from '../feature.ts'

/** Reached through the user menu. */
export const account: Feature = {
  pages: [
    { path: '/account', page: [() => import('./account.tsx'), 'AccountPage'] },
    {
      path: '/account/notifications',
      page: [() => import('./notifications.tsx'), 'NotificationPreferencesPage'],
    },
  ],
}
