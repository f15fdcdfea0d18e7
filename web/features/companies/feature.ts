import { Building2 } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const companies: Feature = {
  pages: [
    { path: '/companies', page: [() => import('./list.tsx'), 'CompaniesPage'] },
    { path: '/companies/$company_id', page: [() => import('./company.tsx'), 'CompanyPage'] },
    { path: '/workspaces/$workspace_id', page: [() => import('./workspace.tsx'), 'WorkspacePage'] },
  ],
  nav: [{ group: 'administration', label: 'Companies', to: '/companies', icon: Building2 }],
}
