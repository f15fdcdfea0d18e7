import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const InvitationPage = () => (
  <Page title="Invitation">
    <Loading />
  </Page>
)
