import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import type { Workflow } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Page, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { RecentFigures } from '../insights/figures.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { mayRun } from '../workflows/role.ts'
import { StarterCards } from '../workflows/starter-cards.tsx'
import { BrokenSinceYesterday } from './broken.tsx'
import { Checklist } from './checklist.tsx'
import { NeedsMe } from './needs-me.tsx'
import { GuestHome, InThisWorkspace } from './newcomer.tsx'

export function HomePage() {
  const { user } = useMe()
  const { canWrite, isGuest } = useRole()
  const title = t('Hello, {0}', [user.name.split(' ')[0]])
  if (isGuest) {
    return (
      <Page title={title}>
        <GuestHome />
      </Page>
    )
  }
  return (
    <Page title={title}>
      <FirstWorkflow canWrite={canWrite} />
      <NeedsMe />
      <BrokenSinceYesterday />
      <RecentFigures />
      <InThisWorkspace />
      {canWrite && <Checklist />}
      <RecentRuns />
    </Page>
  )
}

/**
 * An empty workspace is three clicks from its first execution: choose, run, see. If workflows exist but none has run,
 * it is two.
 */
function FirstWorkflow({ canWrite }: { canWrite: boolean }) {
  const workflows = useApi('listWorkflows', { scope: 'workspace', limit: 200 })
  const runs = useRecentRuns()
  const jobsHaveRun = useJobsHaveRun()
  const { userId } = useRole()
  if (!workflows.data) return null
  const there = workflows.data.items.filter(({ kind }) => kind === 'user')
  if (there.length > 0) {
    const mine = there.filter((workflow) => mayRun(workflow, userId))
    const ready = mine.filter(({ active_version_id }) => active_version_id !== null)
    if (runs.data?.length !== 0 || jobsHaveRun || ready.length === 0) return null
    return (
      <Section
        title="Run your first workflow"
        description="Choose a workflow. It asks for its input and shows each step."
      >
        <ReadyToRun workflows={ready.slice(0, 6)} />
      </Section>
    )
  }
  if (!canWrite) return null
  return (
    <Section title="Your first workflow" description="Choose a working example. You can change every step later.">
      <StarterCards withBlank />
    </Section>
  )
}

const ReadyToRun = ({ workflows }: { workflows: Workflow[] }) => (
  <ul className="grid gap-3 sm:grid-cols-2">
    {workflows.map(({ workflow_id, name, description }) => (
      <li key={workflow_id}>
        <Link
          to={`/workflows/${workflow_id}`}
          search={{ run: 'yes' } as never}
          className="flex h-full items-start gap-3 rounded-lg border border-line bg-surface p-4 hover:border-accent hover:bg-hover"
        >
          <span className="grid size-9 shrink-0 place-items-center rounded-md bg-accent-soft text-accent-strong">
            <Play aria-hidden className="size-5" />
          </span>
          <span className="min-w-0">
            <span className="block truncate font-medium">
              <span className="sr-only">Run </span>
              {name}
            </span>
            {description && <span className="mt-0.5 line-clamp-2 text-ink-2">{description}</span>}
          </span>
        </Link>
      </li>
    ))}
  </ul>
)

const useRecentRuns = () => useList('searchExecutions', { limit: 10 }, { refetchInterval: 10_000 })

/** Returns whether a job has run, which starts an execution for each of its records. */
const useJobsHaveRun = (): boolean =>
  useApi('listJobs', { limit: 200 }).data?.items.some(({ last_run }) => last_run !== null) ?? false

function RecentRuns() {
  const runs = useRecentRuns()
  const jobsHaveRun = useJobsHaveRun()
  if (runs.data?.length === 0 && !jobsHaveRun) return null
  return (
    <Section
      title="Recent runs"
      actions={
        <Link to="/runs" className="text-accent hover:underline">
          All runs
        </Link>
      }
    >
      <Loaded of={runs} what="the runs">
        {(rows) => (
          <RunTable rows={rows.slice(0, 10)} empty={<p className="text-ink-2">Only jobs have run so far.</p>} />
        )}
      </Loaded>
      {jobsHaveRun && (
        <p className="mt-2 text-ink-2">
          Jobs start one run per record. This list leaves them out.{' '}
          <Link to="/runs" search={{ trigger: 'job' } as never} className="text-accent underline">
            Runs of jobs
          </Link>
        </p>
      )}
    </Section>
  )
}
