import { Link } from '@tanstack/react-router'
import { MessageCircleQuestion, PartyPopper, Stamp } from 'lucide-react'
import type { ReactNode } from 'react'
import { useList } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Section } from '#web/ui/page.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { FailingJobs } from './failing-jobs.tsx'

/** Approvals and questions that wait for this user, and jobs that cannot continue by themselves. */
export function NeedsMe() {
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
            kind={t('Approve')}
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
            kind={t('Answer')}
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
