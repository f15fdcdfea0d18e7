import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const RunPage = () => (
  <Page title="Run">
    <Loading />
  </Page>
)
