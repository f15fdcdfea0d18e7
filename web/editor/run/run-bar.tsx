import { Link } from '@tanstack/react-router'
import { Square, X } from 'lucide-react'
import type { Execution } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Duration } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { titleOf } from '../document/document.ts'
import { useDoc, useEditor, useEditorStore } from '../store.ts'
import { hasEnded, type Run } from './use-run.ts'

/** The progress of the execution, over the canvas; the user can answer here what it waits for. */
export function RunBar({ run }: { run: Run }) {
  const store = useEditorStore()
  const execution = useEditor((state) => state.execution)
  const cancel = useChange('cancelExecution', { failed: 'Could not cancel the run' })
  if (!run.own || !execution) return null
  return (
    <section
      aria-label="Run"
      data-run
      data-execution={execution.execution_id}
      tabIndex={-1}
      className="border-t border-line bg-surface px-4 py-2"
    >
      <div className="flex flex-wrap items-center gap-3">
        <span role="status">
          <StatusBadge status={execution.status} />
        </span>
        <span className="text-ink-2">
          <Duration from={execution.started_at ?? execution.created_at} to={execution.finished_at} />
        </span>
        {execution.error && <Failure error={execution.error as Failed} />}
        <span className="ml-auto flex items-center gap-2">
          <Link
            to={`/runs/${execution.execution_id}` as string}
            className="text-accent-strong underline underline-offset-2"
          >
            Open the run
          </Link>
          {!hasEnded(execution) && (
            <Button
              size="small"
              icon={Square}
              pending={cancel.isPending}
              onClick={() => cancel.mutate({ execution_id: execution.execution_id })}
            >
              Cancel
            </Button>
          )}
          <IconButton
            size="small"
            icon={X}
            label="Hide the run"
            onClick={() => {
              run.hide()
              store.set({ execution: hasEnded(execution) ? execution : null })
            }}
          />
        </span>
      </div>
      {execution.waiting_for.map((waiting) => (
        <Waiting key={`${waiting.kind}${waiting.since}`} execution={execution} waiting={waiting as Asked} />
      ))}
    </section>
  )
}

/** The response contains more than its schema declares: the node that failed. */
type Failed = NonNullable<Execution['error']> & { node_id?: string }

/** Why the run failed, and the node that failed, which can be selected. */
function Failure({ error }: { error: Failed }) {
  const store = useEditorStore()
  const node = useDoc().nodes.find(({ id }) => id === error.node_id)
  return (
    <span className="min-w-0 flex-1 truncate text-danger">
      {node && (
        <>
          <button
            type="button"
            className="font-medium underline underline-offset-2"
            onClick={() => {
              store.open([])
              store.select([node.id])
            }}
          >
            {titleOf(node)}
          </button>
          {': '}
        </>
      )}
      {translateMessage(error.message)}
    </span>
  )
}

/** Focuses the bar: the form that had the focus is removed after the answer, and the next state is shown here. */
export const focusRun = (): void => document.querySelector<HTMLElement>('[data-run]')?.focus()

/** The response contains more than its schema declares: the question, and the id of the gate. */
type Asked = Execution['waiting_for'][number] & {
  clarification_id?: string
  question?: string
  schema?: unknown
  request_id?: string
  title?: string
}

const waits: Record<Exclude<Asked['kind'], 'clarification' | 'approval'>, string> = {
  timer: 'Waiting for a timer.',
  event: 'Waiting for an event.',
  slot: 'Waiting for a free slot.',
  execution: 'Waiting for a run of another workflow.',
  platform: 'The service is in trouble. The step is tried again.',
}

function Waiting({ execution, waiting }: { execution: Execution; waiting: Asked }) {
  const respond = useChange('respondToExecution')
  if (waiting.kind === 'clarification') {
    return (
      <div className="mt-2 max-w-xl rounded-md border border-line bg-sunken p-3">
        <p className="mb-2 font-medium break-words">{waiting.question}</p>
        <SchemaForm
          schema={waiting.schema ?? {}}
          submit="Answer"
          onSubmit={async (response) => {
            await respond.mutateAsync({
              execution_id: execution.execution_id,
              response,
              ...(waiting.clarification_id !== undefined && { clarification_id: waiting.clarification_id }),
            })
            focusRun()
          }}
        />
      </div>
    )
  }
  if (waiting.kind === 'approval') {
    return (
      <p className="mt-2 text-ink-2">
        Waiting for votes{waiting.title ? ` on “${waiting.title}”` : ''}.{' '}
        <Link
          to={(waiting.request_id ? `/approvals/${waiting.request_id}` : '/approvals') as string}
          className="text-accent-strong underline underline-offset-2"
        >
          Review and vote
        </Link>
      </p>
    )
  }
  return <p className="mt-2 text-ink-2">{waits[waiting.kind]}</p>
}
