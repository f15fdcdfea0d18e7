import { Copy, Pencil, Power } from 'lucide-react'
import { useState } from 'react'
import type { Workflow, WorkflowSchedule } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { exactMinute } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import { roleIn } from './role.ts'
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

/** When a schedule runs, its next times, and its actions. */
export function OneSchedule({ workflow, schedule }: { workflow: Workflow; schedule: WorkflowSchedule }) {
  const [editing, setEditing] = useState(false)
  const { workflow_id, schedule_id, enabled, next_runs } = schedule
  const { userId } = useRole()
  const mayChange = roleIn(workflow, userId) === 'owner'
  const change = useChange('updateSchedule', {
    stale: [...STALE],
    done: 'Schedule saved',
    failed: 'Could not save the schedule',
  })
  const add = useChange('createSchedule', {
    stale: [...STALE],
    done: 'Schedule duplicated',
    failed: 'Could not duplicate it',
  })
  const remove = useChange('removeSchedule', { stale: [...STALE], done: 'Schedule removed' })
  const { cron, every_s, at, timezone, overlap, catch_up } = schedule
  const input = schedule.input as Record<string, unknown>
  return (
    <Card>
      <div className="flex items-start justify-between gap-2">
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
        {mayChange && (
          <RowMenu
            name={scheduleInWords(schedule)}
            removal={{
              title: 'Remove the schedule?',
              consequence: 'It no longer starts the workflow. Runs in progress continue.',
              action: 'Remove schedule',
              onConfirm: () => remove.mutateAsync({ workflow_id, schedule_id }),
            }}
          >
            <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
              Edit schedule
            </MenuItem>
            <MenuItem icon={Power} onSelect={() => change.mutate({ workflow_id, schedule_id, enabled: !enabled })}>
              {enabled ? 'Switch off' : 'Switch on'}
            </MenuItem>
            <MenuItem
              icon={Copy}
              onSelect={() =>
                add.mutate({ workflow_id, cron, every_s, at, timezone, input, overlap, catch_up, enabled: false })
              }
            >
              Duplicate, switched off
            </MenuItem>
          </RowMenu>
        )}
      </div>
      {schedule.last_error && (
        <p className="mt-1 text-danger">The last start failed: {translateMessage(schedule.last_error)}</p>
      )}
      {next_runs.length > 0 && (
        <ul className="mt-2 text-sm text-ink-2" aria-label="Next times">
          {next_runs.map((at) => (
            <li key={at}>{exactMinute(at)}</li>
          ))}
        </ul>
      )}
      {editing && <ScheduleDialog workflow={workflow} schedule={schedule} onClose={() => setEditing(false)} />}
    </Card>
  )
}
