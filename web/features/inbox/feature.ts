import { Inbox } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const inbox: Feature = {
  pages: [
    { path: '/conversations', page: [() => import('./inbox.tsx'), 'ConversationsPage'] },
    { path: '/conversations/answers', page: [() => import('./answers.tsx'), 'CannedAnswersPage'] },
    { path: '/conversations/hours', page: [() => import('./hours.tsx'), 'OpeningHoursPage'] },
    { path: '/conversations/$thread_id', page: [() => import('./inbox.tsx'), 'ConversationsPage'] },
  ],
  nav: [{ group: 'conversations', label: 'Conversations', to: '/conversations', icon: Inbox, count: 'conversations' }],
}
