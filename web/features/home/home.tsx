import { Link } from '@tanstack/react-router'
import { MessageCircleQuestion, PartyPopper, Play, Stamp } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Page, Section } from '#web/ui/page.tsx'
import { Empty, ErrorState, Loaded, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { RunTable, useWorkflowNames } from '../runs/run-table.tsx'
import { mayRun } from '../workflows/role.ts'
import { StarterCards } from '../workflows/starter-cards.tsx'
import { FailingJobs } from './failing-jobs.tsx'

export function HomePage() {
  const { user } = useMe()
  const { canWrite, isGuest } = useRole()
  if (isGuest) {
    return (
      <Page title={`Hello, ${user.name}`}>
        <Empty title="You are a guest here">
          You can see what you were invited to. Open the link you received, or a conversation or job from the
          navigation.
        </Empty>
      </Page>
    )
  }
  return (
    <Page title={`Hello, ${user.name.split(' ')[0]}`} heading={`Hello, ${user.name.split(' ')[0]}`}>
      <FirstWorkflow canWrite={canWrite} />
      <NeedsMe />
      <RecentRuns />
    </Page>
  )
}

function NeedsMe() {
  const gates = useList('listInbox', { limit: 20 }, { refetchInterval: 30_000 })
  const questions = useList('listQuestionInbox', { limit: 20 }, { refetchInterval: 30_000 })
  const nameOf = useWorkflowNames()
  if (gates.isPending || questions.isPending) return <Loading rows={3} />
  const failed = [gates, questions].find(({ data, error }) => error !== null && data === undefined)
  const nothing = gates.data?.length === 0 && questions.data?.length === 0
  return (
    <Section title="Needs your attention">
      {failed && (
        <ErrorState
          error={failed.error}
          what="what waits for you"
          onRetry={() => void Promise.all([gates.refetch(), questions.refetch()])}
        />
      )}
      {nothing && (
        <p className="mb-2 flex items-center gap-2 text-ink-2">
          <PartyPopper aria-hidden className="size-4" /> No questions or approvals are waiting for you.
        </p>
      )}
      <ul className="flex flex-col gap-2">
        {gates.data?.map((gate) => (
          <Todo
            key={gate.request_id}
            to={`/approvals/${gate.request_id}`}
            icon={<Stamp aria-hidden className="size-4" />}
            kind="Approve"
            title={gate.title}
            where={nameOf(gate.workflow_id)}
            due={gate.due_at}
            since={gate.opened_at}
          />
        ))}
        {questions.data?.map((question) => (
          <Todo
            key={question.clarification_id}
            to={`/runs/${question.execution_id}`}
            icon={<MessageCircleQuestion aria-hidden className="size-4" />}
            kind="Answer"
            title={question.question}
            where={nameOf(question.workflow_id)}
            due={question.due_at}
            since={question.asked_at}
          />
        ))}
      </ul>
      <More of={gates.more} what="approvals" />
      <More of={questions.more} what="questions" />
      <FailingJobs />
    </Section>
  )
}

const More = ({ of, what }: { of: ReturnType<typeof useList>['more']; what: string }) =>
  of.hasMore && (
    <Button look="quiet" pending={of.loading} onClick={of.load}>
      Show more {what}
    </Button>
  )

function Todo({
  to,
  icon,
  kind,
  title,
  where,
  due,
  since,
}: {
  to: string
  icon: ReactNode
  kind: string
  title: string
  where: string
  due: string | null
  since: string
}) {
  return (
    <li>
      <Link
        to={to}
        className="flex items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3 hover:bg-hover"
      >
        <span className="grid size-8 shrink-0 place-items-center rounded-md bg-waiting-soft text-waiting">{icon}</span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">
            <span className="sr-only">{kind}: </span>
            {title}
          </span>
          <span className="flex gap-x-3 text-ink-2 max-sm:flex-wrap">
            <span className="min-w-0 flex-1 truncate">{where}</span>
            <span className="shrink-0">
              {due ? (
                <>
                  due <RelativeTime at={due} />
                </>
              ) : (
                <>
                  asked <RelativeTime at={since} />
                </>
              )}
            </span>
          </span>
        </span>
      </Link>
    </li>
  )
}

/** An empty workspace is three clicks from a run: choose, run, see. Where nothing has run yet, two. */
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

/** Whether a job has run: it began a run for each of its records. */
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
