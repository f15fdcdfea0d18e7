import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const SettingsPage = () => (
  <Page title="Settings">
    <Loading />
  </Page>
)
