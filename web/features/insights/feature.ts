import { ChartColumn, PiggyBank } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const insights: Feature = {
  pages: [
    { path: '/insights', page: [() => import('./page.tsx'), 'InsightsPage'] },
    { path: '/budgets', page: [() => import('./budgets.tsx'), 'BudgetsPage'] },
  ],
  nav: [
    { group: 'work', label: 'Insights', to: '/insights', icon: ChartColumn },
    { group: 'administration', label: 'Budgets', to: '/budgets', icon: PiggyBank },
  ],
}
