import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, UserRound } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { account } from '#web/api.ts'
import { type Person, resetSession } from '#web/session.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { chooseLanguage, type Language, languages, readLanguage } from '#web/words/language.ts'
import { showShortcuts } from './shortcuts.tsx'
import { chooseTheme, readTheme, type Theme } from './theme.ts'

const themes = (): { value: Theme; label: string }[] => [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

export function PersonMenuItems({ me, trigger }: { me: Person; trigger: ReactElement }) {
  const navigate = useNavigate()
  const [theme, setTheme] = useState(readTheme)
  const leave = async (): Promise<void> => {
    try {
      await account.signOut()
      await navigate({ to: '/sign-in' })
      await resetSession()
    } catch (error) {
      toast.failed('Could not sign out', error)
    }
  }
  return (
    <Menu defaultOpen align="start" trigger={trigger}>
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
          options={themes()}
          onChange={(next) => {
            setTheme(next)
            chooseTheme(next)
          }}
        />
      </MenuGroup>
      <MenuGroup label="Language">
        <MenuChoice
          value={readLanguage()}
          options={Object.entries(languages).map(([value, label]) => ({ value: value as Language, label }))}
          onChange={chooseLanguage}
        />
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={() => void leave()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
