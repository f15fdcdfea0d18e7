import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { SecondFactorRequired } from '#sdk/types.generated'
import { account, useApi } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'
import { SecondStep } from './second-step.tsx'
import { Providers, SignInLayout, useEnterConsole } from './sign-in-layout.tsx'

/** Returns the challenge of a user who returns from a provider. It is in the fragment, which no server sees. */
const challengeInAddress = (): string | null => new URLSearchParams(location.hash.slice(1)).get('challenge')

export function SignInPage() {
  const enter = useEnterConsole()
  const [asked, setAsked] = useState<SecondFactorRequired | null>(null)
  useEffect(() => {
    const challenge = challengeInAddress()
    if (challenge === null) return
    history.replaceState(history.state, '', location.pathname + location.search)
    account.describeSecondFactor({ challenge }).then(setAsked, (error: unknown) => toast.failed('Sign in again', error))
  }, [])
  const search = useSearch({ strict: false })
  const options = useApi('getAuthOptions')
  if (asked)
    return (
      <SignInLayout title="One more step" lead="Your account asks for a second factor.">
        <SecondStep asked={asked} onDone={enter} />
      </SignInLayout>
    )
  return (
    <SignInLayout
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
      {browserSupportsWebAuthn() && <WithPasskey onDone={enter} />}
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
          const answer = await account.signIn({ email, password })
          if ('second_factor_required' in answer) setAsked(answer)
          else await enter()
        }}
      >
        <Field name="email" label="E-mail">
          <Input type="email" required autoFocus autoComplete="username" />
        </Field>
        <Field name="password" label="Password">
          <Input type="password" required autoComplete="current-password" />
        </Field>
      </Form>
    </SignInLayout>
  )
}

/** Sign-in with a passkey: the browser asks which passkey, and the user types nothing. */
function WithPasskey({ onDone }: { onDone(): Promise<void> }) {
  const [busy, setBusy] = useState(false)
  const signIn = async (): Promise<void> => {
    setBusy(true)
    try {
      const { options } = await account.beginPasskeySignIn()
      const passkey = await startAuthentication({ optionsJSON: options as never })
      await account.finishPasskeySignIn({ passkey: passkey as never })
      await onDone()
    } catch (error) {
      toast.failed('The passkey was not accepted', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button className="mb-4 w-full" disabled={busy} onClick={() => void signIn()}>
      Use a passkey
    </Button>
  )
}
