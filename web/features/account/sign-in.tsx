import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const SignInPage = () => (
  <Page title="Sign in">
    <Loading />
  </Page>
)
