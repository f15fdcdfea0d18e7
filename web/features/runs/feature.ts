import { Activity } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const runs: Feature = {
  pages: [
    { path: '/runs', page: [() => import('./list.tsx'), 'RunsPage'] },
    { path: '/runs/$execution_id', page: [() => import('./run.tsx'), 'RunPage'] },
  ],
  nav: [{ group: 'work', label: 'Runs', to: '/runs', icon: Activity }],
}
