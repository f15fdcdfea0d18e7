import { Users } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const people: Feature = {
  pages: [{ path: '/people', page: [() => import('./list.tsx'), 'PeoplePage'] }],
  nav: [{ group: 'administration', label: 'People', to: '/people', icon: Users }],
}
