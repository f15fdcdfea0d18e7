import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import { account } from '#web/api.ts'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { CheckMail } from './check-mail.tsx'
import { Providers, SignInLayout, useEnterConsole } from './sign-in-layout.tsx'

type Values = { name: string; email: string; password: string; workspace_name?: string; claim_token?: string }

export function SignUpPage() {
  const enter = useEnterConsole()
  const search = useSearch({ strict: false })
  const [reserved, setReserved] = useState(false)
  const [mailed, setMailed] = useState(false)
  const signUp = async (values: Values): Promise<void> => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Values
    try {
      const answer = await account.signUp(given)
      if ('state' in answer) {
        setMailed(true)
        return
      }
    } catch (error) {
      if (error instanceof HeddleProblem && error.code === 'address_reserved') setReserved(true)
      throw error
    }
    await enter()
  }
  if (mailed) return <CheckMail what="We sent you a mail with a link to confirm your account." />
  return (
    <SignInLayout
      title="Create an account"
      lead="You get your own workspace. You can invite colleagues later."
      below={
        <>
          Have an account?{' '}
          <Link to="/sign-in" search={search as never} className="text-accent underline">
            Sign in
          </Link>
        </>
      }
    >
      <Providers />
      <Form<Values> submit="Create account" onSubmit={signUp}>
        <Field name="name" label="Your name">
          <Input required autoFocus autoComplete="name" maxLength={200} />
        </Field>
        <Field name="email" label="E-mail">
          <Input type="email" required autoComplete="username" />
        </Field>
        <Field
          name="password"
          label="Password"
          hint="At least 8 characters. A long phrase is easy to remember and hard to guess."
        >
          <Input type="password" required autoComplete="new-password" />
        </Field>
        <Field name="workspace_name" label="Workspace" hint="Optional. The name of your team or project.">
          <Input maxLength={200} autoComplete="organization" />
        </Field>
        {reserved && (
          <Field
            name="claim_token"
            label="Claim token"
            hint="This address is reserved for an operator. The token was printed when the service started."
          >
            <Input autoComplete="off" />
          </Field>
        )}
      </Form>
    </SignInLayout>
  )
}
