import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { StarterCards } from './starter-cards.tsx'

export function NewWorkflowPage() {
  const { canWrite } = useRole()
  return (
    <Page
      title="New workflow"
      crumbs={[{ label: 'Workflows', to: '/workflows' }]}
      description="Start from a working example or from scratch."
    >
      {canWrite ? (
        <StarterCards withBlank />
      ) : (
        <Empty title="You cannot create workflows">
          Viewers can only view workflows and runs. Ask a workspace owner to make you a member.
        </Empty>
      )}
    </Page>
  )
}
