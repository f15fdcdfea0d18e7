import { Blocks } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const services: Feature = {
  pages: [
    { path: '/services', page: [() => import('./list.tsx'), 'ServicesPage'] },
    { path: '/services/$service', page: [() => import('./service.tsx'), 'ServicePage'] },
  ],
  nav: [{ group: 'data', label: 'Services', to: '/services', icon: Blocks }],
}
