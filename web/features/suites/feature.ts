import { FlaskConical } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const suites: Feature = {
  pages: [
    { path: '/suites', page: [() => import('./list.tsx'), 'SuitesPage'] },
    { path: '/suites/new', page: [() => import('./new.tsx'), 'NewSuitePage'] },
    { path: '/suites/$suite_id', page: [() => import('./suite.tsx'), 'SuitePage'] },
    { path: '/suites/$suite_id/runs/$run_id', page: [() => import('./report.tsx'), 'ReportPage'] },
    { path: '/suites/$suite_id/runs/$run_id/cases/$position', page: [() => import('./case.tsx'), 'CasePage'] },
  ],
  nav: [{ group: 'data', label: 'Suites', to: '/suites', icon: FlaskConical }],
}
