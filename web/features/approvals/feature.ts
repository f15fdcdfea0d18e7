import { Stamp } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const approvals: Feature = {
  pages: [
    { path: '/approvals', page: [() => import('./inbox.tsx'), 'InboxPage'] },
    { path: '/approvals/decided', page: [() => import('./decided.tsx'), 'DecidedPage'] },
    { path: '/approvals/answers', page: [() => import('./answers.tsx'), 'KeptAnswersPage'] },
    { path: '/approvals/$request_id', page: [() => import('./inbox.tsx'), 'InboxPage'] },
  ],
  nav: [{ group: 'work', label: 'Approvals', to: '/approvals', icon: Stamp, count: 'approvals' }],
}
