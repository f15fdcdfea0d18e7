import { Page } from '#web/ui/page.tsx'
import { Loading } from '#web/ui/states.tsx'

export const SignUpPage = () => (
  <Page title="Sign up">
    <Loading />
  </Page>
)
