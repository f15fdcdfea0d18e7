import { Variable } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const variables: Feature = {
  pages: [{ path: '/variables', page: [() => import('./list.tsx'), 'VariablesPage'] }],
  nav: [{ group: 'data', label: 'Variables', to: '/variables', icon: Variable }],
}
