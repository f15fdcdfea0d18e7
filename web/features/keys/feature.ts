import { KeyRound } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const keys: Feature = {
  pages: [
    { path: '/keys', page: [() => import('./keys.tsx'), 'KeysPage'] },
    { path: '/oauth/authorize', page: [() => import('./authorize.tsx'), 'AuthorizePage'] },
  ],
  nav: [{ group: 'administration', label: 'API keys', to: '/keys', icon: KeyRound, shownTo: () => true }],
}
