import { Bot } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const serviceAccounts: Feature = {
  pages: [
    { path: '/service-accounts', page: [() => import('./list.tsx'), 'ServiceAccountsPage'] },
    { path: '/service-accounts/$user_id', page: [() => import('./account.tsx'), 'ServiceAccountPage'] },
  ],
  nav: [{ group: 'administration', label: 'Service accounts', to: '/service-accounts', icon: Bot }],
}
