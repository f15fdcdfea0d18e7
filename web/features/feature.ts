import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Person } from '#web/session.tsx'

// What a feature adds to the console: pages, each loaded when first opened, and a place in the navigation.

export type PageModule = Record<string, ComponentType>

export type FeaturePage = {
  /** In the router's form: `/workflows/$workflow_id/runs`. */
  path: string
  /** `[() => import('./list.tsx'), 'WorkflowsPage']`: the module and the name of the component it exports. */
  page: readonly [load: () => Promise<PageModule>, name: string]
}

export type NavGroup = 'work' | 'data' | 'conversations' | 'administration' | 'operators'

export type NavEntry = {
  group: NavGroup
  label: string
  to: string
  icon: LucideIcon
  /** What is counted beside it (`shell/counts.ts`). */
  count?: 'approvals' | 'questions' | 'conversations'
  /** Whether it is offered to this person; by default to all but guests. */
  shownTo?: (person: Person) => boolean
}

export type Feature = {
  pages: FeaturePage[]
  nav?: NavEntry[]
}
