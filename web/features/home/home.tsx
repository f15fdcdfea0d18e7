import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const HomePage = () => (
  <Page title="Home">
    <Loading />
  </Page>
)
