import { MessagesSquare } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const threads: Feature = {
  pages: [
    { path: '/threads', page: [() => import('./list.tsx'), 'ThreadsPage'] },
    { path: '/threads/$thread_id', page: [() => import('./thread.tsx'), 'ThreadPage'] },
    { path: '/threads/$thread_id/members', page: [() => import('./members.tsx'), 'ThreadMembersPage'] },
  ],
  // Guests are invited to single threads.
  nav: [{ group: 'conversations', label: 'Threads', to: '/threads', icon: MessagesSquare, shownTo: () => true }],
}
