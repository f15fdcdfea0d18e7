import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const AccessPage = () => (
  <Page title="Access">
    <Loading />
  </Page>
)
