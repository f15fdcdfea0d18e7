import { Workflow } from 'lucide-react'
import type { Feature } from '../feature.ts'

export const workflows: Feature = {
  pages: [
    { path: '/workflows', page: [() => import('./list.tsx'), 'WorkflowsPage'] },
    { path: '/workflows/new', page: [() => import('./new.tsx'), 'NewWorkflowPage'] },
    { path: '/workflows/$workflow_id', page: [() => import('./overview.tsx'), 'OverviewPage'] },
    { path: '/workflows/$workflow_id/editor', page: [() => import('#web/editor/index.tsx'), 'EditorPage'] },
    { path: '/workflows/$workflow_id/versions', page: [() => import('./versions.tsx'), 'VersionsPage'] },
    { path: '/workflows/$workflow_id/runs', page: [() => import('./runs.tsx'), 'WorkflowRunsPage'] },
    { path: '/workflows/$workflow_id/access', page: [() => import('./access.tsx'), 'AccessPage'] },
    {
      path: '/workflows/$workflow_id/tokens/$token_id',
      page: [() => import('./webhook-token.tsx'), 'WebhookTokenPage'],
    },
    { path: '/workflows/$workflow_id/settings', page: [() => import('./settings.tsx'), 'SettingsPage'] },
  ],
  nav: [{ group: 'work', label: 'Workflows', to: '/workflows', icon: Workflow }],
}
