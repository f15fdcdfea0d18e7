import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { lazy, type ReactElement, Suspense, useState } from 'react'
import { roleLabel } from '#web/features/people/roles.ts'
import { type Person, switchWorkspace } from '#web/session.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'

const NewWorkspace = lazy(() => import('./new-workspace.tsx').then((module) => ({ default: module.NewWorkspace })))

export function WorkspaceMenu({ me, trigger }: { me: Person; trigger: ReactElement }) {
  const navigate = useNavigate()
  const [making, setMaking] = useState(false)
  const go = async (workspaceId: string): Promise<void> => {
    if (workspaceId === me.workspace?.workspace_id) return
    try {
      await navigate({ to: '/' })
      await switchWorkspace(workspaceId)
    } catch (error) {
      toast.failed('Could not open the workspace', error)
    }
  }
  return (
    <>
      <Menu defaultOpen align="start" trigger={trigger}>
        <MenuGroup label="Workspaces">
          <MenuChoice
            value={me.workspace?.workspace_id ?? ''}
            onChange={(id) => void go(id)}
            options={me.workspaces.map(({ workspace_id, name, role }) => ({
              value: workspace_id,
              label: (
                <span className="flex min-w-0 flex-1 items-center gap-3">
                  <span className="min-w-0 flex-1 truncate">{name}</span>
                  <span className="text-xs text-ink-3">{roleLabel(role)}</span>
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
