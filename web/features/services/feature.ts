import { Blocks } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const services: Feature = {
  pages: [{ path: '/services', page: [() => import('./list.tsx'), 'ServicesPage'] }],
  nav: [{ group: 'data', label: 'Services', to: '/services', icon: Blocks }],
}
