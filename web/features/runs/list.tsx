import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const RunsPage = () => (
  <Page title="Runs">
    <Loading />
  </Page>
)
