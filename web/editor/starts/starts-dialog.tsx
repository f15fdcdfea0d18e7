import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { EmbedTokens } from '#web/features/workflows/embed-tokens.tsx'
import { OnEvent } from '#web/features/workflows/on-event.tsx'
import { mayChange, mayUse, roleIn, type WorkflowRole } from '#web/features/workflows/role.ts'
import { OneSchedule, ScheduleSection } from '#web/features/workflows/schedule.tsx'
import { OneTrigger, ServiceTriggers } from '#web/features/workflows/service-triggers.tsx'
import { About, Deliveries } from '#web/features/workflows/webhook-parts.tsx'
import { WebhookTokens } from '#web/features/workflows/webhook-tokens.tsx'
import { useRole } from '#web/session.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Loaded } from '#web/ui/states.tsx'
import type { Start } from './use-starts.ts'

/**
 * Shows one trigger with all its details, or all triggers of the workflow, to be changed without leaving the editor.
 */
export function StartsDialog({
  workflow,
  start,
  onClose,
}: {
  workflow: Workflow
  start: Start | null
  onClose(): void
}) {
  const { userId } = useRole()
  const role = roleIn(workflow, userId)
  if (start !== null && start.kind !== 'hand')
    return (
      <Dialog open onClose={onClose} size="large" title={`${start.what}: ${start.detail}`}>
        <One workflow={workflow} start={start} role={role} onClose={onClose} />
      </Dialog>
    )
  return (
    <Dialog
      open
      onClose={onClose}
      size="large"
      title="How this workflow starts"
      description="Each of these starts the active version. Anyone who may run the workflow can also start it by hand."
    >
      {role === 'owner' && <ScheduleSection workflow={workflow} />}
      <WebhookTokens workflow={workflow} role={role} />
      {mayChange(role) && <OnEvent workflow={workflow} />}
      {mayChange(role) && <ServiceTriggers workflow={workflow} />}
      {mayUse(role) && <EmbedTokens workflow={workflow} role={role} />}
      <p className="text-ink-2">
        <Go to="/templates">Assistants</Go> offer it in chats and channels, and <Go to="/jobs/new">jobs</Go> run it for
        each record.
      </p>
    </Dialog>
  )
}

const Go = ({ to, children }: { to: string; children: ReactNode }) => (
  <Link to={to} className="text-accent underline">
    {children}
  </Link>
)

type OneProps = { workflow: Workflow; start: Start; role: WorkflowRole; onClose(): void }

function One({ workflow, start, role, onClose }: OneProps) {
  const { workflow_id } = workflow
  switch (start.kind) {
    case 'schedule':
      return <Schedule workflow={workflow} schedule_id={start.id} />
    case 'webhook':
      return <WebhookStart workflow={workflow} token_id={start.id} />
    case 'event':
      return <EventStart name={start.id} />
    case 'service':
      return <ServiceStart workflow_id={workflow_id} trigger_id={start.id} role={role} onClose={onClose} />
    case 'form':
      return <EmbedTokens workflow={workflow} role={role} />
    case 'chat':
      return (
        <p>
          The assistant <Go to={`/templates/${start.id}`}>{start.detail}</Go> offers this workflow in its chat, on its
          widget and in its <Go to={`/templates/${start.id}/channels`}>channels</Go>.
        </p>
      )
    case 'job':
      return (
        <p>
          The job <Go to={`/jobs/${start.id}`}>{start.detail}</Go> runs this workflow once for each record.
        </p>
      )
    default:
      return (
        <p>
          The workflow <Go to={`/workflows/${start.id}/editor`}>{start.detail}</Go> calls this one.
        </p>
      )
  }
}

function Schedule({ workflow, schedule_id }: { workflow: Workflow; schedule_id: string }) {
  const schedules = useApi('listSchedules', { workflow_id: workflow.workflow_id })
  return (
    <Loaded of={schedules} what="the schedule">
      {({ items }) => {
        const schedule = items.find((one) => one.schedule_id === schedule_id)
        return schedule ? <OneSchedule workflow={workflow} schedule={schedule} /> : <p>This schedule was removed.</p>
      }}
    </Loaded>
  )
}

function WebhookStart({ workflow, token_id }: { workflow: Workflow; token_id: string }) {
  const token = useApi('getWebhookToken', { workflow_id: workflow.workflow_id, token_id })
  return (
    <Loaded of={token} what="the token">
      {(found) => (
        <>
          <About workflow={workflow} token={found} />
          <Deliveries token={found} />
          <p>
            <Go to={`/workflows/${workflow.workflow_id}/tokens/${token_id}`}>All settings of this webhook</Go>
          </p>
        </>
      )}
    </Loaded>
  )
}

const EventStart = ({ name }: { name: string }) => (
  <div className="flex flex-col gap-3">
    <p>Starts when a program sends an event of this name. Its data is the input.</p>
    <CopyField
      label="Sample call"
      text={`curl -X POST '${location.origin}/api/events' -H 'Authorization: Bearer YOUR_API_KEY' -H 'Content-Type: application/json' -d '${JSON.stringify({ name, data: {} })}'`}
    />
  </div>
)

function ServiceStart({
  workflow_id,
  trigger_id,
  role,
  onClose,
}: {
  workflow_id: string
  trigger_id: string
  role: WorkflowRole
  onClose(): void
}) {
  const trigger = useApi('getTrigger', { workflow_id, trigger_id })
  return (
    <Loaded of={trigger} what="the trigger">
      {(found) => <OneTrigger trigger={found} mayChange={mayChange(role)} onDeleted={onClose} />}
    </Loaded>
  )
}
