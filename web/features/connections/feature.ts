import { DatabaseZap } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const connections: Feature = {
  pages: [
    { path: '/connections', page: [() => import('./list.tsx'), 'ConnectionsPage'] },
    { path: '/connections/new', page: [() => import('./new.tsx'), 'NewConnectionPage'] },
    { path: '/connections/$connection_id', page: [() => import('./connection.tsx'), 'ConnectionPage'] },
  ],
  nav: [{ group: 'data', label: 'Connections', to: '/connections', icon: DatabaseZap }],
}
