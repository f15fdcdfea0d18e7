import { useRole } from '#web/session.tsx'
import { Page, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Gallery } from './gallery/gallery.tsx'
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
        <>
          <Section title="Start here">
            <StarterCards withBlank />
          </Section>
          <Gallery />
        </>
      ) : (
        <Empty title="You cannot create workflows">
          Viewers can only view workflows and runs. Ask a workspace owner to make you a member.
        </Empty>
      )}
    </Page>
  )
}
