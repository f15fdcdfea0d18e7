import { ChevronsUpDown } from 'lucide-react'
import type { Person } from '#web/session.tsx'
import { OnDemand } from '#web/ui/on-demand.tsx'

const load = () => import('./workspace-menu.tsx').then(({ WorkspaceMenu }) => WorkspaceMenu)

export const WorkspaceSwitcher = ({ me }: { me: Person }) => (
  <OnDemand load={load} props={{ me }}>
    <button
      type="button"
      className="flex min-w-0 flex-1 items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
    >
      <Mark />
      <span className="min-w-0 flex-1 lg:group-data-compact/nav:sr-only">
        <span className="block truncate font-semibold">{me.workspace?.name ?? 'No workspace'}</span>
        <span className="sr-only">Switch workspace</span>
      </span>
      <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-ink-3 lg:group-data-compact/nav:hidden" />
    </button>
  </OnDemand>
)

export const Mark = ({ className = 'size-6' }: { className?: string }) => (
  <svg aria-hidden="true" viewBox="0 0 32 32" className={`shrink-0 ${className}`}>
    <rect width="32" height="32" rx="7" fill="#0f6e66" />
    <path d="M10 6v20M22 6v20" stroke="#fff" strokeWidth="2.5" strokeLinecap="round" />
    <path d="M5 11c6 0 6 10 11 10s5-10 11-10" fill="none" stroke="#9fe5da" strokeWidth="2.5" strokeLinecap="round" />
  </svg>
)
