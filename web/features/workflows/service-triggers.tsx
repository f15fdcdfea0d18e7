import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { ServiceTrigger, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Card, Facts, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import { useTriggerNames } from '../services/use-trigger-names.ts'
import { TriggerDialog } from './trigger-dialog.tsx'

/** Events in other services that start the workflow. */
export function ServiceTriggers({ workflow }: { workflow: Workflow }) {
  const { workflow_id } = workflow
  const triggers = useList('listTriggers', { workflow_id, limit: 20 })
  const nameOf = useTriggerNames()
  const [adding, setAdding] = useState(false)
  return (
    <Section
      title="Service triggers"
      description="Start this workflow when something happens in another service. The item is input.item of the run."
    >
      <Loaded of={triggers} what="the triggers">
        {(rows) => (
          <div className="flex max-w-xl flex-col gap-3">
            {rows.map((row) => {
              const { service, trigger } = nameOf(row)
              return (
                <Card key={row.trigger_id}>
                  <p className="mb-3 font-medium">{`${service}: ${trigger}`}</p>
                  <OneTrigger trigger={row} />
                </Card>
              )
            })}
            <div>
              <Button onClick={() => setAdding(true)}>Add trigger</Button>
            </div>
          </div>
        )}
      </Loaded>
      {adding && <TriggerDialog workflow_id={workflow_id} onClose={() => setAdding(false)} />}
    </Section>
  )
}

/** The state of a trigger, its switch and its removal. */
export function OneTrigger({
  trigger,
  mayChange = true,
  onDeleted,
}: {
  trigger: ServiceTrigger
  mayChange?: boolean
  onDeleted?: () => void
}) {
  const { workflow_id, trigger_id, last_execution_id, enabled } = trigger
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteTrigger', {
    stale: ['listTriggers', 'listWorkflows'],
    done: 'Trigger deleted',
    onDone: () => onDeleted?.(),
  })
  const change = useChange('updateTrigger', {
    stale: ['listTriggers', 'getTrigger', 'listWorkflows'],
    done: enabled ? 'Trigger switched off' : 'Trigger switched on',
    failed: 'Could not change the trigger',
  })
  return (
    <div className="flex flex-col gap-3">
      <Facts facts={factsOf(trigger)} />
      {last_execution_id !== null && (
        <p>
          <Link to={`/runs/${last_execution_id}`} className="text-accent underline">
            The last run it started
          </Link>
        </p>
      )}
      {mayChange && (
        <div className="flex flex-wrap gap-2">
          <Button
            pending={change.isPending}
            onClick={() => change.mutate({ workflow_id, trigger_id, enabled: !enabled })}
          >
            {enabled ? 'Switch off' : 'Switch on'}
          </Button>
          <Button look="quiet" onClick={() => setAsking(true)}>
            Delete trigger
          </Button>
        </div>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Delete this trigger?"
        consequence="It no longer starts the workflow. Runs in progress continue."
        action="Delete trigger"
        onConfirm={() => remove.mutateAsync({ workflow_id, trigger_id })}
      />
    </div>
  )
}

const factsOf = (trigger: ServiceTrigger): [string, ReactNode][] => [
  [t('State'), trigger.enabled ? t('On') : 'Off: it starts no runs'],
  ...(trigger.kind === 'polling'
    ? ([
        ['Checks every', formatDuration(trigger.every_s * 1000)],
        ['Next check', trigger.enabled ? <RelativeTime key="next" at={trigger.next_poll_at} /> : '–'],
        ['Last answer', <RelativeTime key="last" at={trigger.last_polled_at} />],
      ] as [string, ReactNode][])
    : ([
        ['Registered with the service', trigger.registered ? t('yes') : t('no')],
        ['Last event', <RelativeTime key="last" at={trigger.last_polled_at} />],
      ] as [string, ReactNode][])),
  ['Last problem', trigger.last_error === null ? t('none') : translateMessage(trigger.last_error)],
]
