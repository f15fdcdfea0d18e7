import { useState } from 'react'
import type { Workflow, WorkflowSchedule } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { cronInWords } from '#web/ui/cron.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { ownTimeZone, ScheduleFields } from '#web/ui/schedule-fields.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { definitionOf, useVersion } from './versions-of.ts'

const STALE = ['listSchedules', 'getSchedule'] as const

export function ScheduleSection({ workflow }: { workflow: Workflow }) {
  const { workflow_id } = workflow
  const schedules = useApi('listSchedules', { workflow_id })
  const [editing, setEditing] = useState<WorkflowSchedule | 'new' | null>(null)
  return (
    <Section title="Schedules" description="Start this workflow automatically.">
      <Loaded of={schedules} what="the schedules">
        {({ items }) => (
          <div className="flex max-w-xl flex-col gap-3">
            {items.map((schedule) => (
              <One key={schedule.schedule_id} schedule={schedule} onEdit={() => setEditing(schedule)} />
            ))}
            <div>
              <Button onClick={() => setEditing('new')}>Add schedule</Button>
            </div>
          </div>
        )}
      </Loaded>
      {editing !== null && (
        <EditDialog
          workflow={workflow}
          schedule={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </Section>
  )
}

const whenOf = ({ cron, every_s, at, timezone }: WorkflowSchedule): string => {
  if (cron !== null) return `${cronInWords(cron)} (${timezone})`
  return every_s !== null ? `every ${every_s} seconds` : `once, ${exactTime(at!)}`
}

function One({ schedule, onEdit }: { schedule: WorkflowSchedule; onEdit(): void }) {
  const { workflow_id, schedule_id, enabled, next_runs } = schedule
  const [removing, setRemoving] = useState(false)
  const change = useChange('updateSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const remove = useChange('removeSchedule', { stale: [...STALE], done: 'Schedule removed' })
  return (
    <Card>
      <p>
        Runs <strong className="font-medium">{whenOf(schedule)}</strong>
        {enabled ? (
          <>
            , next <RelativeTime at={schedule.next_run_at} />.
          </>
        ) : (
          '. Switched off.'
        )}
      </p>
      {schedule.last_error && <p className="mt-1 text-danger">The last start failed: {schedule.last_error}</p>}
      {next_runs.length > 0 && (
        <ul className="mt-2 text-sm text-ink-2" aria-label="Next times">
          {next_runs.map((at) => (
            <li key={at}>{exactTime(at)}</li>
          ))}
        </ul>
      )}
      <div className="mt-3 flex gap-2">
        {schedule.cron !== null && <Button onClick={onEdit}>Edit schedule</Button>}
        <Button onClick={() => void change.mutateAsync({ workflow_id, schedule_id, enabled: !enabled })}>
          {enabled ? 'Switch off' : 'Switch on'}
        </Button>
        <Button look="quiet" onClick={() => setRemoving(true)}>
          Remove
        </Button>
      </div>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title="Remove the schedule?"
        consequence="It no longer starts the workflow. Runs in progress continue."
        action="Remove schedule"
        onConfirm={() => remove.mutateAsync({ workflow_id, schedule_id })}
      />
    </Card>
  )
}

type Rules = { overlap: WorkflowSchedule['overlap']; catch_up: WorkflowSchedule['catch_up'] }

function EditDialog({
  workflow,
  schedule,
  onClose,
}: {
  workflow: Workflow
  schedule: WorkflowSchedule | null
  onClose(): void
}) {
  const { workflow_id } = workflow
  const [value, setValue] = useState({
    cron: schedule?.cron ?? '0 9 * * 1-5',
    timezone: schedule?.timezone ?? ownTimeZone(),
  })
  const [rules, setRules] = useState<Rules | null>(null)
  const { version } = useVersion(workflow_id, workflow.active_version_id, true)
  const add = useChange('createSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const change = useChange('updateSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const save = async (input: unknown): Promise<void> => {
    const body = { workflow_id, ...value, ...rules, input: (input ?? {}) as Record<string, unknown> }
    await (schedule === null
      ? add.mutateAsync(body)
      : change.mutateAsync({ ...body, schedule_id: schedule.schedule_id }))
    onClose()
  }
  return (
    <Dialog open onClose={onClose} title={schedule === null ? 'Add schedule' : 'Edit schedule'} size="medium">
      {rules === null ? (
        <Form<Rules> submit="Continue" onSubmit={async (given) => setRules(given)}>
          <ScheduleFields value={value} onChange={setValue} />
          <Field name="overlap" label="If the previous run has not ended">
            <Select
              defaultValue={schedule?.overlap ?? 'allow'}
              options={[
                { value: 'allow', label: 'Start beside it' },
                { value: 'skip', label: 'Leave this time out' },
                { value: 'queue', label: 'Start after it has ended' },
                { value: 'cancel', label: 'Cancel it and start' },
              ]}
            />
          </Field>
          <Field name="catch_up" label="After the service was down">
            <Select
              defaultValue={schedule?.catch_up ?? 'last'}
              options={[
                { value: 'last', label: 'Run once for the missed times' },
                { value: 'all', label: 'Run for every missed time' },
                { value: 'none', label: 'Leave missed times out' },
              ]}
            />
          </Field>
        </Form>
      ) : (
        <SchemaForm
          value={schedule?.input ?? {}}
          schema={(version && definitionOf(version).inputs) ?? { type: 'object' }}
          submit="Save schedule"
          onSubmit={save}
        />
      )}
    </Dialog>
  )
}
