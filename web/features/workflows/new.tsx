import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const NewWorkflowPage = () => (
  <Page title="New workflow">
    <Loading />
  </Page>
)
