import { useQuery } from '@tanstack/react-query'
import {
  Bot,
  Clock,
  Database,
  FileUp,
  Keyboard,
  KeyRound,
  ListChecks,
  type LucideIcon,
  Plus,
  SunMoon,
  UserPlus,
} from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'
import type { Person } from '#web/session.tsx'
import { entriesFor } from '../navigation.tsx'
import { showShortcuts } from '../shortcuts.tsx'
import { chooseTheme, readTheme } from '../theme.ts'
import type { Entry } from './entry.ts'
import { readRecent } from './recent.ts'
import { findThings } from './things.ts'

/** Returns everything that a few letters can find: recent pages, resources of the workspace, pages, actions. */
export function useEntries(me: Person, search: string): { entries: Entry[]; searching: boolean } {
  const words = useDeferredValue(search.trim())
  const fixed = useMemo(() => fixedEntries(me), [me])
  const found = useQuery({
    queryKey: ['palette', me.workspace?.workspace_id, words],
    enabled: words.length > 1 && me.workspace !== null,
    staleTime: 10_000,
    queryFn: () => findThings(words),
  })
  const entries = useMemo(() => {
    const matching = fixed.filter((entry) => matches(entry, words))
    return words === ''
      ? matching
      : [...(found.data ?? []), ...matching.filter(({ key }) => !key.startsWith('recent '))]
  }, [fixed, found.data, words])
  return { entries, searching: found.isFetching }
}

export const matches = ({ label, group }: Pick<Entry, 'label' | 'group'>, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => `${label} ${group}`.toLowerCase().includes(word))

function fixedEntries(me: Person): Entry[] {
  const workspaceId = me.workspace?.workspace_id
  const recent = workspaceId === undefined ? [] : readRecent(me.user.user_id, workspaceId)
  const canWrite = me.workspace?.role === 'owner' || me.workspace?.role === 'member'
  return [
    ...recent.map(({ to, title }): Entry => ({ key: `recent ${to}`, group: 'Recent', label: title, icon: Clock, to })),
    ...entriesFor(me).map(({ to, label, icon }): Entry => ({ key: `page ${to}`, group: 'Pages', label, icon, to })),
    ...(canWrite ? creations : []),
    {
      key: 'act shortcuts',
      group: 'Actions',
      label: 'Keyboard shortcuts',
      hint: '?',
      icon: Keyboard,
      act: showShortcuts,
    },
    {
      key: 'act theme',
      group: 'Actions',
      label: 'Switch between light and dark',
      icon: SunMoon,
      act: () => chooseTheme(isDark() ? 'light' : 'dark'),
    },
  ]
}

const isDark = (): boolean => {
  const theme = readTheme()
  return theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
}

const creation = (label: string, to: string, icon: LucideIcon): Entry => ({
  key: `act ${to}`,
  group: 'Actions',
  label,
  icon,
  to,
})

const creations: Entry[] = [
  creation('New workflow', '/workflows/new', Plus),
  creation('Import a file as a dataset', '/datasets/import', FileUp),
  creation('New connection', '/connections/new', Database),
  creation('New credential', '/credentials/new', KeyRound),
  creation('New job', '/jobs/new', ListChecks),
  creation('New template', '/templates/new', Bot),
  creation('Invite people', '/people', UserPlus),
]
