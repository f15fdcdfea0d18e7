import type { Workflow } from '#sdk/types.generated'
import { capitalize } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'

/** The filters of the list; they are in the address, so that a view can be linked to and saved. */
export type Filters = {
  scope?: 'own' | 'workspace'
  state?: 'live' | 'paused' | 'draft'
  tag?: string
  owner_id?: string
}

const scopes = ['own', 'workspace'] as const
const states = ['live', 'paused', 'draft'] as const
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

export function filtersIn(search: unknown): Filters {
  const given = (search ?? {}) as Record<string, unknown>
  const scope = scopes.find((one) => one === given.scope)
  const state = states.find((one) => one === given.state)
  const tag = text(given.tag)
  const owner_id = text(given.owner_id)
  return { ...(scope && { scope }), ...(state && { state }), ...(tag && { tag }), ...(owner_id && { owner_id }) }
}

export const hasFilters = ({ scope: _scope, ...only }: Filters): boolean => Object.keys(only).length > 0

export const stateOf = ({
  active_version_id,
  paused_at,
}: Pick<Workflow, 'active_version_id' | 'paused_at'>): 'live' | 'paused' | 'draft' =>
  active_version_id === null ? 'draft' : paused_at === null ? 'live' : 'paused'

const words: Record<string, string> = {
  schedule: t('schedule'),
  webhook: t('webhook'),
  embed: t('widget'),
  event: t('event'),
  service: t('service'),
  template: t('assistant'),
  job: t('job'),
}

/** Returns "Schedule, webhook"; "By hand" if the workflow has no trigger. */
export function startsInWords({ activity, kind }: Pick<Workflow, 'activity' | 'kind'>): string {
  if (kind === 'system') return t('By hand')
  if (!activity) return '–'
  const said = activity.starts.map((start) => words[start] ?? start).join(', ') || t('by hand')
  return capitalize(said)
}

export const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]
