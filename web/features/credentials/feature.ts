import { KeySquare } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const credentials: Feature = {
  pages: [
    { path: '/credentials', page: [() => import('./list.tsx'), 'CredentialsPage'] },
    { path: '/credentials/new', page: [() => import('./new.tsx'), 'NewCredentialPage'] },
    { path: '/credentials/$credential_id', page: [() => import('./credential.tsx'), 'CredentialPage'] },
  ],
  nav: [{ group: 'data', label: 'Credentials', to: '/credentials', icon: KeySquare }],
}
