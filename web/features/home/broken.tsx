import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import type { AnswerOf } from '#web/api.ts'
import { useApi } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { plural } from '#web/ui/format.ts'
import { Section } from '#web/ui/page.tsx'

const HOUR = 3_600_000
const MAX_SHOWN = 5

type Group = AnswerOf<'getRunInsights'>['items'][number]
const failures = ({ failed, timed_out }: Group): number => failed + timed_out

/** Workflows with executions that failed since yesterday; those without a failure on the day before come first. */
export function BrokenSinceYesterday() {
  const hour = Math.floor(Date.now() / HOUR) * HOUR
  const at = (hoursAgo: number): string => new Date(hour - hoursAgo * HOUR).toISOString()
  const day = useApi('getRunInsights', { from: at(24), group_by: 'workflow' }, { refetchInterval: 60_000 })
  const before = useApi('getRunInsights', { from: at(48), to: at(24), group_by: 'workflow' }, { staleTime: 600_000 })
  if (!day.data || !before.data) return null
  const failedBefore = new Set(
    before.data.items.filter((group) => failures(group) > 0).map(({ workflow_id }) => workflow_id),
  )
  const broken = day.data.items
    .filter((group) => failures(group) > 0 && group.workflow_id)
    .map((group) => ({ group, isNew: !failedBefore.has(group.workflow_id) }))
    .sort((a, b) => Number(b.isNew) - Number(a.isNew) || failures(b.group) - failures(a.group))
  if (broken.length === 0) return null
  return (
    <Section title="Failed since yesterday">
      <ul className="flex flex-col gap-2">
        {broken.slice(0, MAX_SHOWN).map(({ group, isNew }) => (
          <li key={group.workflow_id}>
            <Link
              to="/runs"
              search={{ workflow_id: group.workflow_id, status: 'failed,timed_out', since: 'day' } as never}
              className="flex items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3 hover:bg-hover"
            >
              <span className="grid size-8 shrink-0 place-items-center rounded-md bg-danger-soft text-danger">
                <TriangleAlert aria-hidden className="size-4" />
              </span>
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{group.name ?? 'A deleted workflow'}</span>
                <span className="block truncate text-ink-2">
                  {plural(failures(group), 'run', 'runs')} of {group.total} failed
                </span>
              </span>
              {isNew && <Badge tone="danger">new</Badge>}
            </Link>
          </li>
        ))}
      </ul>
      {broken.length > MAX_SHOWN && (
        <p className="mt-2">
          <Link to="/insights" search={{ days: '1' } as never} className="text-accent hover:underline">
            {broken.length - MAX_SHOWN} more in Insights
          </Link>
        </p>
      )}
    </Section>
  )
}
