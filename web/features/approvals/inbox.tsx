import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const InboxPage = () => (
  <Page title="Approvals">
    <Loading />
  </Page>
)
