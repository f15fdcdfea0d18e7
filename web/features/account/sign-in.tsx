import { Link, useSearch } from '@tanstack/react-router'
import { account, useApi } from '#web/api.ts'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Providers, useEnter, WayIn } from './way-in.tsx'

export function SignInPage() {
  const enter = useEnter()
  const search = useSearch({ strict: false })
  const options = useApi('getAuthOptions')
  return (
    <WayIn
      title="Sign in"
      below={
        <>
          New here?{' '}
          <Link to="/sign-up" search={search as never} className="text-accent underline">
            Create an account
          </Link>
        </>
      }
    >
      <Providers />
      <Form<{ email: string; password: string }>
        submit="Sign in"
        aside={
          options.data?.mail && (
            <Link to="/forgot-password" className="text-accent underline">
              Forgotten password?
            </Link>
          )
        }
        onSubmit={async ({ email, password }) => {
          await account.signIn({ email, password })
          await enter()
        }}
      >
        <Field name="email" label="E-mail">
          <Input type="email" required autoFocus autoComplete="username" />
        </Field>
        <Field name="password" label="Password">
          <Input type="password" required autoComplete="current-password" />
        </Field>
      </Form>
    </WayIn>
  )
}
