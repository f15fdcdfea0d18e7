import {
  Activity,
  Blocks,
  BookOpen,
  Bot,
  Database,
  KeyRound,
  ListChecks,
  type LucideIcon,
  MessageSquare,
  MessagesSquare,
  Table2,
  Users,
  Workflow,
} from 'lucide-react'
import { api } from '#web/api.ts'
import type { Entry } from './entry.ts'

// Finds resources of the workspace by a few letters of their names.

const MAX_FOUND = 5

type Found = { label: string; to: string }
type Kind = { group: string; icon: LucideIcon; find(q: string): Promise<Found[]> }

const limit = MAX_FOUND

const kinds: Kind[] = [
  {
    group: 'Workflows',
    icon: Workflow,
    find: async (q) =>
      (await api.listWorkflows({ q, limit })).items.map(({ name, workflow_id }) => ({
        label: name,
        to: `/workflows/${workflow_id}`,
      })),
  },
  {
    group: 'Datasets',
    icon: Table2,
    find: async (q) =>
      (await api.listDatasets({ q, limit })).items.map(({ name, dataset_id }) => ({
        label: name,
        to: `/datasets/${dataset_id}`,
      })),
  },
  {
    group: 'Jobs',
    icon: ListChecks,
    find: async (q) =>
      (await api.listJobs({ q, limit })).items.map(({ name, job_id }) => ({ label: name, to: `/jobs/${job_id}` })),
  },
  {
    group: 'Templates',
    icon: Bot,
    find: async (q) =>
      (await api.listTemplates({ q, limit })).items.map(({ name, template_id }) => ({
        label: name,
        to: `/templates/${template_id}`,
      })),
  },
  {
    group: 'Threads',
    icon: MessagesSquare,
    find: async (q) =>
      (await api.listThreads({ q, limit })).items.map(({ title, thread_id }) => ({
        label: title,
        to: `/threads/${thread_id}`,
      })),
  },
  {
    group: 'Channels',
    icon: MessageSquare,
    find: async (q) =>
      (await api.listChannelConfigs({ q, limit })).items.map(({ name, external_id, config_id }) => ({
        label: name ?? external_id,
        to: `/channels/${config_id}`,
      })),
  },
  {
    group: 'Knowledge',
    icon: BookOpen,
    find: async (q) =>
      (await api.listKnowledge({ q, limit })).items.map(({ name, knowledge_id }) => ({
        label: name,
        to: `/knowledge/${knowledge_id}`,
      })),
  },
  {
    group: 'Credentials',
    icon: KeyRound,
    find: async (q) =>
      (await api.listCredentials({ q, limit })).items.map(({ name, credential_id }) => ({
        label: name,
        to: `/credentials/${credential_id}`,
      })),
  },
  {
    group: 'Connections',
    icon: Database,
    find: async (q) =>
      (await api.listConnections({ q })).items.map(({ name, connection_id }) => ({
        label: name,
        to: `/connections/${connection_id}`,
      })),
  },
  {
    group: 'Teams',
    icon: Users,
    find: async (q) =>
      (await api.listTeams({ q, limit })).items.map(({ name, team_id }) => ({ label: name, to: `/teams/${team_id}` })),
  },
  {
    group: 'Services',
    icon: Blocks,
    find: async (q) =>
      (await api.listServices({ q, limit })).items.map(({ title, service }) => ({
        label: title,
        to: `/services/${service}`,
      })),
  },
]

/** Returns the matches of one kind; a list that this user may not read gives none. */
const findIn = async ({ group, icon, find }: Kind, q: string): Promise<Entry[]> => {
  const found = await find(q).catch(() => [])
  return found.slice(0, limit).map(({ label, to }) => ({ key: `found ${to}`, group, label, icon, to }))
}

/** Finds an execution by its id, because it has no name. */
const runOf = (q: string): Entry[] =>
  /^exe_[0-9a-z]{26}$/.test(q) ? [{ key: `found ${q}`, group: 'Runs', label: q, icon: Activity, to: `/runs/${q}` }] : []

export const findThings = async (q: string): Promise<Entry[]> => [
  ...runOf(q),
  ...(await Promise.all(kinds.map((kind) => findIn(kind, q)))).flat(),
]
