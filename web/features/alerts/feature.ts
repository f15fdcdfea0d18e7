import { BellRing } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const alerts: Feature = {
  pages: [{ path: '/alerts', page: [() => import('./list.tsx'), 'AlertsPage'] }],
  nav: [{ group: 'work', label: 'Alerts', to: '/alerts', icon: BellRing }],
}
