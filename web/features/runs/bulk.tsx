import { CircleStop } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ExecutionSummary } from '#sdk/types.generated'
import { invalidate, useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import type { Selection } from '#web/ui/selection.tsx'

type Filter = { status?: string; workflow_id?: string; trigger?: string; from?: string }
type Status = 'queued' | 'running' | 'waiting' | 'failed' | 'timed_out' | 'cancelled'

/** What can be done with all runs in a state. */
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
    consequence:
      'Starts every run that matches the filters once more from its failed node, in workflows that you may run.',
    action: 'Retry runs',
  },
}

const list = <T extends string>(text: string | undefined): T[] | undefined => text?.split(',') as T[] | undefined

/** Cancels or retries everything that the filters of the page find. */
export function BulkActions({ filter, onStarted }: { filter: Filter; onStarted(bulkId: string): void }) {
  const [asking, setAsking] = useState(false)
  const start = useChange('startBulk', { stale: ['searchExecutions'] })
  const action = actions[filter.status ?? '']
  const { workflow_id, trigger, from } = filter
  return (
    <>
      {action && <Button onClick={() => setAsking(true)}>{words[action].button}</Button>}
      {action && (
        <ConfirmDialog
          open={asking}
          onClose={() => setAsking(false)}
          look={action === 'cancel' ? 'danger' : 'primary'}
          {...words[action]}
          onConfirm={async () => {
            const triggers = list<'user'>(trigger)
            const { bulk_id } = await start.mutateAsync({
              action,
              filter: {
                status: list<Status>(filter.status)!,
                ...(workflow_id && { workflow_id }),
                ...(triggers && { trigger: triggers }),
                ...(from && { from }),
              },
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

export function CancelChosen({ selection, onStarted }: Choosing) {
  const [asking, setAsking] = useState(false)
  const start = useChange('startBulk', { stale: ['searchExecutions'] })
  const count = selection.chosen.length
  return (
    <>
      <Button icon={CircleStop} onClick={() => setAsking(true)}>
        Cancel runs
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={count === 1 ? 'Cancel this run?' : `Cancel ${count} runs?`}
        consequence="Their effects are not undone. They do not continue."
        action={count === 1 ? 'Cancel run' : 'Cancel runs'}
        onConfirm={async () => {
          const execution_ids = selection.chosen.map(({ execution_id }) => execution_id)
          onStarted((await start.mutateAsync({ action: 'cancel', filter: { execution_ids } })).bulk_id)
          selection.clear()
        }}
      />
    </>
  )
}

/** How far a cancellation or retry of many has come. */
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
      {refused > 0 && `, ${refused} refused: ${last_error}`}
    </p>
  )
}
