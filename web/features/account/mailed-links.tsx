import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { account } from '#web/api.ts'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { CheckMail } from './check-mail.tsx'
import { SignInLayout, useEnterConsole } from './sign-in-layout.tsx'

// The pages that links in mails open, and the page that requests such a mail. Opening a page has no effect, because
// mail scanners open links too.

const useToken = (): string => useParams({ strict: false }).token as unknown as string

const SignInLink = () => (
  <Link to="/sign-in" className="text-accent underline">
    Sign in
  </Link>
)

export function ConfirmAccountPage() {
  const token = useToken()
  const enter = useEnterConsole()
  return (
    <SignInLayout title="Confirm your account" lead="Enter the password you chose when you made the account.">
      <Form<{ password: string }>
        submit="Confirm"
        onSubmit={async ({ password }) => {
          await account.confirmSignUp({ token, password })
          await enter()
        }}
      >
        <Field name="password" label="Password">
          <Input type="password" required autoFocus autoComplete="current-password" />
        </Field>
      </Form>
    </SignInLayout>
  )
}

export function ConfirmEmailPage() {
  const token = useToken()
  const [done, setDone] = useState(false)
  if (done)
    return (
      <SignInLayout title="Your address is confirmed">
        <p role="status">
          You can close this page, or{' '}
          <Link to="/" className="text-accent underline">
            go to the console
          </Link>
          .
        </p>
      </SignInLayout>
    )
  return (
    <SignInLayout title="Confirm your e-mail address">
      <Form
        submit="Confirm"
        onSubmit={async () => {
          await account.confirmEmail({ token })
          setDone(true)
        }}
      >
        <p>This proves that the address of your account is yours.</p>
      </Form>
    </SignInLayout>
  )
}

export function ForgotPasswordPage() {
  const [asked, setAsked] = useState(false)
  if (asked) return <CheckMail what="If this address has an account, we sent a mail with a link." />
  return (
    <SignInLayout
      title="Forgotten password"
      lead="You get a mail with a link to choose a new password."
      below={<SignInLink />}
    >
      <Form<{ email: string }>
        submit="Send the mail"
        onSubmit={async ({ email }) => {
          await account.forgotPassword({ email })
          setAsked(true)
        }}
      >
        <Field name="email" label="E-mail">
          <Input type="email" required autoFocus autoComplete="username" />
        </Field>
      </Form>
    </SignInLayout>
  )
}

export function ResetPasswordPage() {
  const token = useToken()
  const [done, setDone] = useState(false)
  if (done)
    return (
      <SignInLayout title="Your password is changed" below={<SignInLink />}>
        <p role="status">All your sessions have ended. Sign in with the new password.</p>
      </SignInLayout>
    )
  return (
    <SignInLayout title="Choose a new password" lead="All your sessions end.">
      <Form<{ password: string }>
        submit="Change password"
        onSubmit={async ({ password }) => {
          await account.resetPassword({ token, password })
          setDone(true)
        }}
      >
        <Field
          name="password"
          label="New password"
          hint="At least 8 characters. A sentence is easy to remember and hard to guess."
        >
          <Input type="password" required autoFocus autoComplete="new-password" />
        </Field>
      </Form>
    </SignInLayout>
  )
}
