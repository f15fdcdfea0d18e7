import { Activity, Building, MailOpen, Tags } from 'lucide-react'
import type { Feature, NavEntry } from '../feature.ts'

const shownTo: NavEntry['shownTo'] = ({ operator }) => operator

export const operators: Feature = {
  pages: [
    { path: '/operators/engine', page: [() => import('./engine.tsx'), 'EnginePage'] },
    { path: '/operators/tenants', page: [() => import('./tenants.tsx'), 'TenantsPage'] },
    { path: '/operators/outbox', page: [() => import('./outbox.tsx'), 'OutboxPage'] },
    { path: '/operators/plans', page: [() => import('./plans.tsx'), 'PlansPage'] },
  ],
  nav: [
    { group: 'operators', label: 'Engine', to: '/operators/engine', icon: Activity, shownTo },
    { group: 'operators', label: 'Tenants', to: '/operators/tenants', icon: Building, shownTo },
    { group: 'operators', label: 'Outbox', to: '/operators/outbox', icon: MailOpen, shownTo },
    { group: 'operators', label: 'Plans', to: '/operators/plans', icon: Tags, shownTo },
  ],
}
