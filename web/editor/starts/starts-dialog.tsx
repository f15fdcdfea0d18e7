import type { Workflow } from '#sdk/types.generated'
import { OnEvent } from '#web/features/workflows/on-event.tsx'
import { mayChange, roleIn } from '#web/features/workflows/role.ts'
import { ScheduleSection } from '#web/features/workflows/schedule.tsx'
import { WebhookTokens } from '#web/features/workflows/webhook-tokens.tsx'
import { useRole } from '#web/session.tsx'
import { Dialog } from '#web/ui/dialog.tsx'

/** Everything that starts the workflow, changed without leaving the editor. */
export function StartsDialog({ workflow, onClose }: { workflow: Workflow; onClose(): void }) {
  const { userId } = useRole()
  const role = roleIn(workflow, userId)
  return (
    <Dialog
      open
      onClose={onClose}
      size="large"
      title="How this workflow starts"
      description="Each of these starts the version that is live. Anyone who may run it can also start it by hand."
    >
      {mayChange(role) && <ScheduleSection workflow={workflow} />}
      <WebhookTokens workflow={workflow} role={role} />
      {mayChange(role) && <OnEvent workflow={workflow} />}
    </Dialog>
  )
}
