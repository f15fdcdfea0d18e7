import { useState } from 'react'
import type { Schedule, Workflow } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { cronInWords } from '#web/ui/cron.ts'
import { Form } from '#web/ui/field.tsx'
import { isRefusal } from '#web/ui/messages.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { ownTimeZone, ScheduleFields } from '#web/ui/schedule-fields.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

export function ScheduleSection({ workflow }: { workflow: Workflow }) {
  const schedule = useApi('getSchedule', { workflow_id: workflow.workflow_id })
  const none = isRefusal(schedule.error, 404)
  return (
    <Section title="Schedule" description="Start this workflow automatically.">
      <Card className="max-w-xl">
        {schedule.isPending ? (
          <Loading rows={2} />
        ) : schedule.error && !none ? (
          <ErrorState error={schedule.error} what="the schedule" onRetry={() => void schedule.refetch()} />
        ) : (
          <Edit key={schedule.data?.cron} workflow={workflow} schedule={none ? null : (schedule.data ?? null)} />
        )}
      </Card>
    </Section>
  )
}

function Edit({ workflow, schedule }: { workflow: Workflow; schedule: Schedule | null }) {
  const { workflow_id } = workflow
  const [value, setValue] = useState({
    cron: schedule?.cron ?? '0 9 * * 1-5',
    timezone: schedule?.timezone ?? ownTimeZone(),
  })
  const [removing, setRemoving] = useState(false)
  const put = useChange('putSchedule', { stale: ['getSchedule'], done: 'Schedule saved' })
  const remove = useChange('deleteSchedule', { stale: ['getSchedule'], done: 'Schedule removed' })
  return (
    <>
      <Form
        submit={schedule ? 'Save schedule' : 'Start by schedule'}
        aside={
          schedule && (
            <Button look="quiet" onClick={() => setRemoving(true)}>
              Remove
            </Button>
          )
        }
        onSubmit={() =>
          put.mutateAsync({ workflow_id, ...value, input: (schedule?.input ?? {}) as Record<string, unknown> })
        }
      >
        {schedule && (
          <p>
            Runs <strong className="font-medium">{cronInWords(schedule.cron)}</strong> ({schedule.timezone}), next{' '}
            <RelativeTime at={schedule.next_run_at} />.
            {schedule.last_error && (
              <span className="mt-1 block text-danger">The last start failed: {schedule.last_error}</span>
            )}
          </p>
        )}
        <ScheduleFields value={value} onChange={setValue} />
      </Form>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title="Remove the schedule?"
        consequence="It no longer starts automatically. Runs in progress continue."
        action="Remove schedule"
        onConfirm={() => remove.mutateAsync({ workflow_id })}
      />
    </>
  )
}
