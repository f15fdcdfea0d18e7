import { CircleStop, RotateCcw } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ExecutionSummary } from '#sdk/types.generated'
import { api, invalidate, useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import type { Selection } from '#web/ui/selection.tsx'
import { translateMessage } from '#web/words/messages.ts'

type Filter = { status?: string; workflow_id?: string; trigger?: string; from?: string; error_code?: string }
type Status = 'queued' | 'running' | 'waiting' | 'failed' | 'timed_out' | 'cancelled'

/** The action that is available for all executions with a status. */
const actions: Record<string, 'cancel' | 'retry'> = {
  'queued,running': 'cancel',
  waiting: 'cancel',
  'failed,timed_out': 'retry',
  cancelled: 'retry',
}

const words = {
  cancel: {
    button: 'Cancel all',
    title: 'Cancel all these runs?',
    consequence:
      'Cancels every run that matches the filters, also those further down the list, in workflows that you may run.',
    action: 'Cancel runs',
  },
  retry: {
    button: 'Retry all',
    title: 'Retry all these runs?',
    consequence: 'Restarts every run that matches the filters from its failed node, in workflows that you may run.',
    action: 'Retry runs',
  },
}

const list = <T extends string>(text: string | undefined): T[] | undefined => text?.split(',') as T[] | undefined

/** The maximum number of executions in one request. */
const MAX_FOUND = 1000

const foundWords = {
  cancel: `Cancels every run that the search and the filters find, at most ${MAX_FOUND}, in workflows that you may run.`,
  retry: `Restarts every run that the search and the filters find from its failed node, at most ${MAX_FOUND}, in workflows that you may run.`,
}

/** Returns the ids of all executions that a search finds, including those on later pages of the list. */
async function findAll(filter: Filter, q: string, can: (run: ExecutionSummary) => boolean): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await api.searchExecutions({ ...filter, q, limit: 200, ...(cursor && { cursor }) })
    found.push(...page.items.filter(can).map(({ execution_id }) => execution_id))
    cursor = page.next_cursor ?? undefined
  } while (cursor && found.length < MAX_FOUND)
  if (found.length === 0) throw new Error('No run that can be changed matches.')
  return found.slice(0, MAX_FOUND)
}

type BulkProps = { filter: Filter; search: string | undefined; onStarted(bulkId: string): void }

/** Cancels or retries all executions that match the filters and the search of the page. */
export function BulkActions({ filter, search, onStarted }: BulkProps) {
  const [asking, setAsking] = useState(false)
  const start = useChange('startBulk', { stale: ['searchExecutions'] })
  const action = actions[filter.status ?? '']
  const { workflow_id, trigger, from, error_code } = filter
  return (
    <>
      {action && <Button onClick={() => setAsking(true)}>{words[action].button}</Button>}
      {action && (
        <ConfirmDialog
          open={asking}
          onClose={() => setAsking(false)}
          look={action === 'cancel' ? 'danger' : 'primary'}
          {...words[action]}
          {...(search !== undefined && { consequence: foundWords[action] })}
          onConfirm={async () => {
            const triggers = list<'user'>(trigger)
            const status = list<Status>(filter.status)!
            const can = action === 'cancel' ? canCancel : canRetry
            const { bulk_id } = await start.mutateAsync({
              action,
              filter:
                search === undefined
                  ? {
                      status,
                      ...(workflow_id && { workflow_id }),
                      ...(triggers && { trigger: triggers }),
                      ...(from && { from }),
                      ...(error_code && { error_code }),
                    }
                  : { status, execution_ids: await findAll(filter, search, can) },
              ...(action === 'retry' && { from: 'failed' }),
            })
            onStarted(bulk_id)
          }}
        />
      )}
    </>
  )
}

type Choosing = { selection: Selection<ExecutionSummary>; onStarted(bulkId: string): void }

const canCancel = ({ status }: ExecutionSummary): boolean =>
  status === 'queued' || status === 'running' || status === 'waiting'

/** A job would not be notified of the new execution: its failed records are retried on its own page. */
const canRetry = ({ status, trigger }: ExecutionSummary): boolean =>
  trigger.kind !== 'job' && (status === 'failed' || status === 'timed_out' || status === 'cancelled')

export const canChoose = (run: ExecutionSummary): boolean => canCancel(run) || canRetry(run)

type Verb = 'cancel' | 'retry'

const chosenWords = (verb: Verb, count: number) =>
  verb === 'cancel'
    ? {
        button: count === 1 ? 'Cancel run' : 'Cancel runs',
        title: count === 1 ? 'Cancel this run?' : `Cancel ${count} runs?`,
        consequence: 'Their effects are not undone. They do not continue.',
      }
    : {
        button: count === 1 ? 'Retry run' : 'Retry runs',
        title: count === 1 ? 'Retry this run?' : `Retry ${count} runs?`,
        consequence: 'Each run restarts from its failed node, in workflows that you may run.',
      }

export const ChosenActions = ({ selection, onStarted }: Choosing) => (
  <>
    <ChosenAction
      verb="cancel"
      concerned={selection.chosen.filter(canCancel)}
      clear={selection.clear}
      onStarted={onStarted}
    />
    <ChosenAction
      verb="retry"
      concerned={selection.chosen.filter(canRetry)}
      clear={selection.clear}
      onStarted={onStarted}
    />
  </>
)

function ChosenAction({
  verb,
  concerned,
  clear,
  onStarted,
}: {
  verb: Verb
  concerned: ExecutionSummary[]
  clear(): void
  onStarted(bulkId: string): void
}) {
  const [asking, setAsking] = useState(false)
  const start = useChange('startBulk', { stale: ['searchExecutions'] })
  const count = concerned.length
  if (count === 0) return null
  const { button, title, consequence } = chosenWords(verb, count)
  return (
    <>
      <Button icon={verb === 'cancel' ? CircleStop : RotateCcw} onClick={() => setAsking(true)}>
        {button}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        look={verb === 'cancel' ? 'danger' : 'primary'}
        title={title}
        consequence={consequence}
        action={button}
        onConfirm={async () => {
          const execution_ids = concerned.map(({ execution_id }) => execution_id)
          const { bulk_id } = await start.mutateAsync({
            action: verb,
            filter: { execution_ids },
            ...(verb === 'retry' && { from: 'failed' }),
          })
          onStarted(bulk_id)
          clear()
        }}
      />
    </>
  )
}

/** The progress of a bulk cancellation or retry. */
export function Progress({ bulkId }: { bulkId: string }) {
  const { data } = useApi(
    'getBulk',
    { bulk_id: bulkId },
    { refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : 1_000) },
  )
  const isDone = data?.status === 'done'
  useEffect(() => {
    if (isDone) void invalidate('searchExecutions')
  }, [isDone])
  if (!data) return null
  const { done, total, refused, last_error } = data
  return (
    <p role="status" className="self-center text-ink-2">
      {isDone ? `Done: ${done} of ${total} runs` : `${done} of ${total} runs…`}
      {refused > 0 && `, ${refused} refused: ${translateMessage(last_error ?? '')}`}
    </p>
  )
}
