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
      description="Begin with one that already runs and change it, or with nothing."
    >
      {canWrite ? (
        <StarterCards withBlank />
      ) : (
        <Empty title="You may look, not make">
          Viewers see workflows and runs. Ask an owner of the workspace to make you a member.
        </Empty>
      )}
    </Page>
  )
}
