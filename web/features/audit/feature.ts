import { ScrollText } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const audit: Feature = {
  pages: [{ path: '/audit', page: [() => import('./log.tsx'), 'AuditPage'] }],
  nav: [
    {
      group: 'administration',
      label: 'Audit log',
      to: '/audit',
      icon: ScrollText,
      shownTo: ({ workspace, operator }) => workspace?.role === 'owner' || operator,
    },
  ],
}
