import { ListChecks } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const jobs: Feature = {
  pages: [
    { path: '/jobs', page: [() => import('./list.tsx'), 'JobsPage'] },
    { path: '/jobs/new', page: [() => import('./new.tsx'), 'NewJobPage'] },
    { path: '/jobs/$job_id', page: [() => import('./overview.tsx'), 'JobPage'] },
    { path: '/jobs/$job_id/ledger', page: [() => import('./ledger.tsx'), 'LedgerPage'] },
    { path: '/jobs/$job_id/runs', page: [() => import('./runs.tsx'), 'JobRunsPage'] },
    { path: '/jobs/$job_id/members', page: [() => import('./members.tsx'), 'JobMembersPage'] },
    { path: '/jobs/$job_id/settings', page: [() => import('./settings.tsx'), 'JobSettingsPage'] },
  ],
  // Guests are invited to single jobs: the list shows them their jobs.
  nav: [{ group: 'data', label: 'Jobs', to: '/jobs', icon: ListChecks, shownTo: () => true }],
}
