import { House } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const home: Feature = {
  pages: [{ path: '/', page: [() => import('./home.tsx'), 'HomePage'] }],
  nav: [{ group: 'work', label: 'Home', to: '/', icon: House, shownTo: () => true }],
}
