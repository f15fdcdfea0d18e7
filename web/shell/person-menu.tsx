import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, UserRound } from 'lucide-react'
import { useState } from 'react'
import { account } from '#web/api.ts'
import { begin, type Person } from '#web/session.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { showShortcuts } from './shortcuts.tsx'
import { chooseTheme, readTheme, type Theme } from './theme.ts'

const themes: { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

export function PersonMenu({ me }: { me: Person }) {
  const navigate = useNavigate()
  const [theme, setTheme] = useState(readTheme)
  const leave = async (): Promise<void> => {
    try {
      await account.signOut()
      await navigate({ to: '/sign-in' })
      await begin()
    } catch (error) {
      toast.failed('Signing out did not work', error)
    }
  }
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-2 py-1 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent-strong"
          >
            {initials(me.user.name)}
          </span>
          <span className="min-w-0">
            <span className="block truncate font-medium">{me.user.name}</span>
          </span>
        </button>
      }
    >
      <p className="truncate px-2 pt-1 pb-1.5 text-xs text-ink-2">{me.user.email}</p>
      <MenuItem icon={UserRound} to="/account">
        Your account
      </MenuItem>
      <MenuItem icon={Keyboard} onSelect={showShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon={BookOpen} onSelect={() => window.open('/docs', '_blank', 'noopener')}>
        API reference
      </MenuItem>
      <MenuSeparator />
      <MenuGroup label="Theme">
        <MenuChoice
          value={theme}
          options={themes}
          onChange={(next) => {
            setTheme(next)
            chooseTheme(next)
          }}
        />
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={() => void leave()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

export const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('') || '?'
