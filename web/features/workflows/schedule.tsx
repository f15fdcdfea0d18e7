import { useState } from 'react'
import type { Workflow, WorkflowSchedule } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactTime } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { said } from '#web/words/said.ts'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { scheduleInWords } from './schedule-words.ts'

const STALE = ['listSchedules', 'getSchedule'] as const

export function ScheduleSection({ workflow }: { workflow: Workflow }) {
  const { workflow_id } = workflow
  const schedules = useApi('listSchedules', { workflow_id })
  const [adding, setAdding] = useState(false)
  return (
    <Section title="Schedules" description="Start this workflow automatically.">
      <Loaded of={schedules} what="the schedules">
        {({ items }) => (
          <div className="flex max-w-xl flex-col gap-3">
            {items.map((schedule) => (
              <OneSchedule key={schedule.schedule_id} workflow={workflow} schedule={schedule} />
            ))}
            <div>
              <Button onClick={() => setAdding(true)}>Add schedule</Button>
            </div>
          </div>
        )}
      </Loaded>
      {adding && <ScheduleDialog workflow={workflow} schedule={null} onClose={() => setAdding(false)} />}
    </Section>
  )
}

/** When it runs, its next times, and what is done with it. */
export function OneSchedule({ workflow, schedule }: { workflow: Workflow; schedule: WorkflowSchedule }) {
  const [editing, setEditing] = useState(false)
  const { workflow_id, schedule_id, enabled, next_runs } = schedule
  const [removing, setRemoving] = useState(false)
  const change = useChange('updateSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const remove = useChange('removeSchedule', { stale: [...STALE], done: 'Schedule removed' })
  return (
    <Card>
      <p>
        Runs <strong className="font-medium">{scheduleInWords(schedule)}</strong>
        {enabled ? (
          <>
            , next <RelativeTime at={schedule.next_run_at} />.
          </>
        ) : (
          t('. Switched off.')
        )}
      </p>
      {schedule.last_error && <p className="mt-1 text-danger">The last start failed: {said(schedule.last_error)}</p>}
      {next_runs.length > 0 && (
        <ul className="mt-2 text-sm text-ink-2" aria-label="Next times">
          {next_runs.map((at) => (
            <li key={at}>{exactTime(at)}</li>
          ))}
        </ul>
      )}
      <div className="mt-3 flex gap-2">
        <Button onClick={() => setEditing(true)}>Edit schedule</Button>
        <Button onClick={() => void change.mutateAsync({ workflow_id, schedule_id, enabled: !enabled })}>
          {enabled ? 'Switch off' : 'Switch on'}
        </Button>
        <Button look="quiet" onClick={() => setRemoving(true)}>
          Remove
        </Button>
      </div>
      {editing && <ScheduleDialog workflow={workflow} schedule={schedule} onClose={() => setEditing(false)} />}
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
