import { Link } from '@tanstack/react-router'
import { Clock, Hourglass, MessageCircleQuestion, Radio, Stamp, Workflow } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Execution } from '#sdk/types.generated'
import { api, invalidate, newKey, useApi } from '#web/api.ts'
import { Card } from '#web/ui/page.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { toast } from '#web/ui/toast.tsx'
import { Gate } from '../approvals/gate.tsx'

type Wait = Execution['waiting_for'][number] & {
  node_id?: string
  clarification_id?: string
  question?: string
  schema?: unknown
  suggested?: { answer: unknown; answered_by: { name: string }; answered_at: string; execution_id: string }
  request_id?: string
  title?: string
  key?: string
}

/** Exactly what an execution waits for, and where a user can provide it. */
export function WaitingFor({ execution, nameOf }: { execution: Execution; nameOf(nodeId: string): string }) {
  const waits = execution.waiting_for as Wait[]
  if (waits.length === 0) return null
  return (
    <div className="mb-6 flex flex-col gap-3">
      {waits.map((wait, index) => (
        <OneWait
          key={wait.clarification_id ?? wait.request_id ?? index}
          wait={wait}
          execution={execution}
          nameOf={nameOf}
        />
      ))}
    </div>
  )
}

function OneWait({ wait, execution, nameOf }: { wait: Wait; execution: Execution; nameOf(nodeId: string): string }) {
  const step = wait.node_id ? nameOf(wait.node_id) : 'The run'
  switch (wait.kind) {
    case 'clarification':
      return <Question wait={wait} execution_id={execution.execution_id} />
    case 'approval':
      return <OpenGate wait={wait} execution_id={execution.execution_id} />
    case 'timer':
      return (
        <Notice icon={<Clock aria-hidden className="size-5" />}>
          “{step}” is waiting.{' '}
          {wait.until ? (
            <>
              It continues <RelativeTime at={wait.until} />, on {exactTime(wait.until)}.
            </>
          ) : (
            'It continues soon.'
          )}
        </Notice>
      )
    case 'event':
      return (
        <Notice icon={<Radio aria-hidden className="size-5" />}>
          “{step}” is waiting for an event{wait.key ? ` with the key ${wait.key}` : ' at its own address'}.
          {wait.until && (
            <>
              {' '}
              It is due <RelativeTime at={wait.until} />, on {exactTime(wait.until)}.
            </>
          )}
        </Notice>
      )
    case 'platform':
      return (
        <Notice icon={<Hourglass aria-hidden className="size-5" />}>
          {wait.error ?? 'The service is in trouble.'} {step} is tried again automatically; nothing is lost.
        </Notice>
      )
    case 'slot':
      return (
        <Notice icon={<Hourglass aria-hidden className="size-5" />}>
          Waiting for a free slot. The maximum number of runs of this workflow is in progress.
        </Notice>
      )
    case 'execution':
      return (
        <Notice icon={<Workflow aria-hidden className="size-5" />}>
          {step} is waiting for{' '}
          {wait.execution_id ? (
            <Link to={`/runs/${wait.execution_id}`} className="underline">
              the run
            </Link>
          ) : (
            'the run'
          )}{' '}
          of another workflow to end, since <RelativeTime at={wait.since} />.
        </Notice>
      )
  }
}

const Notice = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <Card className="flex items-center gap-3 border-waiting bg-waiting-soft text-waiting [&>svg]:shrink-0">
    {icon}
    <p className="text-ink">{children}</p>
  </Card>
)

function Question({ wait, execution_id }: { wait: Wait; execution_id: string }) {
  const inbox = useApi('listQuestionInbox', { execution_id, limit: 200 })
  const mine = inbox.data?.items.find(({ clarification_id }) => clarification_id === wait.clarification_id)
  return (
    <Card className="border-waiting">
      <div className="mb-3 flex items-start gap-3">
        <MessageCircleQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-waiting" />
        <div>
          <h2 className="font-semibold">{wait.question ?? 'A question'}</h2>
          <p className="text-ink-2">
            Asked {wait.node_id?.includes('[') && `at ${wait.node_id} `}
            <RelativeTime at={wait.since} />
            {wait.until && (
              <>
                , due <RelativeTime at={wait.until} />
              </>
            )}
            .
          </p>
        </div>
      </div>
      {inbox.isPending ? (
        <Loading rows={2} />
      ) : inbox.error && !inbox.data ? (
        <ErrorState error={inbox.error} what="the question" onRetry={() => void inbox.refetch()} />
      ) : mine ? (
        <>
          {wait.suggested && (
            <p className="mb-2 text-ink-2">
              {wait.suggested.answered_by.name} answered this before, <RelativeTime at={wait.suggested.answered_at} />.
              The form shows this answer.{' '}
              <Link to={`/runs/${wait.suggested.execution_id}`} className="text-accent underline">
                See that run
              </Link>
            </p>
          )}
          <SchemaForm
            schema={mine.schema}
            {...(wait.suggested && { value: wait.suggested.answer })}
            submit="Answer"
            onSubmit={async (response) => {
              await api.respondToExecution(
                { execution_id, response, clarification_id: mine.clarification_id },
                { idempotencyKey: newKey() },
              )
              toast.done('Answered', 'The run continues.')
              await invalidate('getExecution', 'listQuestionInbox')
            }}
          />
        </>
      ) : (
        <p className="text-ink-2">This question is for someone else. The run continues when they answer.</p>
      )}
    </Card>
  )
}

function OpenGate({ wait, execution_id }: { wait: Wait; execution_id: string }) {
  const gates = useApi('listExecutionApprovals', { execution_id, limit: 200 })
  const gate = gates.data?.items.find(({ request_id, status }) =>
    wait.request_id ? request_id === wait.request_id : status === 'open',
  )
  if (!gate) {
    return (
      <Notice icon={<Stamp aria-hidden className="size-5" />}>
        Waiting for approval{wait.title ? `: ${wait.title}` : ''}.
      </Notice>
    )
  }
  return (
    <Card className="border-waiting">
      <div className="max-w-3xl">
        <Gate gate={gate} compact />
      </div>
    </Card>
  )
}
