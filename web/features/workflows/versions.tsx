import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const VersionsPage = () => (
  <Page title="Versions">
    <Loading />
  </Page>
)
