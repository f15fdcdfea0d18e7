import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const WorkflowsPage = () => (
  <Page title="Workflows">
    <Loading />
  </Page>
)
