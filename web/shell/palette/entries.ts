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
  Table2,
  UserPlus,
  Workflow,
} from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'
import { api } from '#web/api.ts'
import type { Person } from '#web/session.tsx'
import { entriesFor } from '../navigation.tsx'
import { showShortcuts } from '../shortcuts.tsx'
import { chooseTheme, readTheme } from '../theme.ts'
import { readRecent } from './recent.ts'

export type Entry = { key: string; group: string; label: string; hint?: string; icon: LucideIcon } & (
  | { to: string }
  | { act(): void }
)

const MAX_FOUND = 5

/** Everything that can be found by a few letters: recent pages, things of the workspace, pages, actions. */
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

type Found = { label: string; to: string }

/** A list that this person may not read answers with nothing. */
const from = async (group: string, icon: LucideIcon, list: Promise<Found[]>): Promise<Entry[]> => {
  const found = await list.catch(() => [])
  return found.map(({ label, to }) => ({ key: `found ${to}`, group, label, icon, to }))
}

async function findThings(q: string): Promise<Entry[]> {
  const limit = MAX_FOUND
  const lists = await Promise.all([
    from(
      'Workflows',
      Workflow,
      api
        .listWorkflows({ q, limit })
        .then(({ items }) => items.map(({ name, workflow_id }) => ({ label: name, to: `/workflows/${workflow_id}` }))),
    ),
    from(
      'Datasets',
      Table2,
      api
        .listDatasets({ q, limit })
        .then(({ items }) => items.map(({ name, dataset_id }) => ({ label: name, to: `/datasets/${dataset_id}` }))),
    ),
    from(
      'Jobs',
      ListChecks,
      api
        .listJobs({ q, limit })
        .then(({ items }) => items.map(({ name, job_id }) => ({ label: name, to: `/jobs/${job_id}` }))),
    ),
    from(
      'Templates',
      Bot,
      api
        .listTemplates({ q, limit })
        .then(({ items }) => items.map(({ name, template_id }) => ({ label: name, to: `/templates/${template_id}` }))),
    ),
    from(
      'Credentials',
      KeyRound,
      api
        .listCredentials({ q, limit })
        .then(({ items }) =>
          items.map(({ name, credential_id }) => ({ label: name, to: `/credentials/${credential_id}` })),
        ),
    ),
    from(
      'Connections',
      Database,
      api
        .listConnections({ q })
        .then(({ items }) =>
          items
            .slice(0, limit)
            .map(({ name, connection_id }) => ({ label: name, to: `/connections/${connection_id}` })),
        ),
    ),
  ])
  return lists.flat()
}
