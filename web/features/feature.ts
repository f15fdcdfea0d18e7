import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Person } from '#web/session.tsx'

// What a feature adds to the console: pages, each loaded when first opened, and an entry in the navigation.

export type PageModule = Record<string, ComponentType>

export type FeaturePage = {
  /** The path in the router's notation: `/workflows/$workflow_id/runs`. */
  path: string
  /** `[() => import('./list.tsx'), 'WorkflowsPage']`: the module and the name of the component that it exports. */
  page: readonly [load: () => Promise<PageModule>, name: string]
}

export type NavGroup = 'work' | 'data' | 'conversations' | 'administration' | 'operators'

export type NavEntry = {
  group: NavGroup
  label: string
  to: string
  icon: LucideIcon
  /** The count shown beside the entry (`shell/counts.ts`). */
  count?: 'approvals' | 'questions' | 'conversations'
  /** Whether the entry is shown to this user; by default to all but guests. */
  shownTo?: (person: Person) => boolean
}

export type Feature = {
  pages: FeaturePage[]
  nav?: NavEntry[]
}
