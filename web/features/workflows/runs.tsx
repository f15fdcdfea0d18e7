import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const WorkflowRunsPage = () => (
  <Page title="Runs">
    <Loading />
  </Page>
)
