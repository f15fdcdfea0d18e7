import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown, Plus } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { type Person, switchWorkspace } from '#web/session.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'

const NewWorkspace = lazy(() => import('./new-workspace.tsx').then((module) => ({ default: module.NewWorkspace })))

export function WorkspaceSwitcher({ me }: { me: Person }) {
  const navigate = useNavigate()
  const [making, setMaking] = useState(false)
  const go = async (workspaceId: string): Promise<void> => {
    if (workspaceId === me.workspace?.workspace_id) return
    try {
      await navigate({ to: '/' })
      await switchWorkspace(workspaceId)
    } catch (error) {
      toast.failed('The workspace could not be opened', error)
    }
  }
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex min-w-0 flex-1 items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
          >
            <Mark />
            <span className="min-w-0 flex-1">
              <span className="block truncate font-semibold">{me.workspace?.name ?? 'No workspace'}</span>
              <span className="sr-only">Switch workspace</span>
            </span>
            <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-ink-3" />
          </button>
        }
      >
        <MenuGroup label="Workspaces">
          <MenuChoice
            value={me.workspace?.workspace_id ?? ''}
            onChange={(id) => void go(id)}
            options={me.workspaces.map(({ workspace_id, name, role }) => ({
              value: workspace_id,
              label: (
                <span className="flex min-w-0 flex-1 items-center gap-3">
                  <span className="min-w-0 flex-1 truncate">{name}</span>
                  <span className="text-xs text-ink-3">{role}</span>
                </span>
              ),
            }))}
          />
        </MenuGroup>
        <MenuSeparator />
        <MenuItem icon={Plus} onSelect={() => setMaking(true)}>
          New workspace…
        </MenuItem>
      </Menu>
      {making && (
        <Suspense>
          <NewWorkspace onClose={() => setMaking(false)} onMade={(id) => void go(id)} />
        </Suspense>
      )}
    </>
  )
}

export const Mark = ({ className = 'size-6' }: { className?: string }) => (
  <svg aria-hidden="true" viewBox="0 0 32 32" className={`shrink-0 ${className}`}>
    <rect width="32" height="32" rx="7" fill="#0f6e66" />
    <path d="M10 6v20M22 6v20" stroke="#fff" strokeWidth="2.5" strokeLinecap="round" />
    <path d="M5 11c6 0 6 10 11 10s5-10 11-10" fill="none" stroke="#9fe5da" strokeWidth="2.5" strokeLinecap="round" />
  </svg>
)
