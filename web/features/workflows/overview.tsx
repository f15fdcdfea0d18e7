import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const OverviewPage = () => (
  <Page title="Workflow">
    <Loading />
  </Page>
)
