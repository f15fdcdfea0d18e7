import { Table2 } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const datasets: Feature = {
  pages: [
    { path: '/datasets', page: [() => import('./list.tsx'), 'DatasetsPage'] },
    { path: '/datasets/import', page: [() => import('./import.tsx'), 'ImportPage'] },
    { path: '/datasets/new', page: [() => import('./new.tsx'), 'NewDatasetPage'] },
    { path: '/datasets/$dataset_id', page: [() => import('./records.tsx'), 'RecordsPage'] },
    { path: '/datasets/$dataset_id/profile', page: [() => import('./profile.tsx'), 'ProfilePage'] },
    { path: '/datasets/$dataset_id/settings', page: [() => import('./settings.tsx'), 'DatasetSettingsPage'] },
  ],
  nav: [{ group: 'data', label: 'Datasets', to: '/datasets', icon: Table2 }],
}
