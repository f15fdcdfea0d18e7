import { RadioTower } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const destinations: Feature = {
  pages: [
    { path: '/destinations', page: [() => import('./list.tsx'), 'DestinationsPage'] },
    { path: '/destinations/$destination_id', page: [() => import('./destination.tsx'), 'DestinationPage'] },
  ],
  nav: [{ group: 'data', label: 'Event destinations', to: '/destinations', icon: RadioTower }],
}
