import { startAuthentication } from '@simplewebauthn/browser'
import { useState } from 'react'
import type { SecondFactorRequired } from '#sdk/types.generated'
import { account } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'

/** The step after the password: the code of an app, a passkey or a recovery code. */
export function SecondStep({ asked, onDone }: { asked: SecondFactorRequired; onDone(): Promise<void> }) {
  const { challenge, methods, passkey } = asked
  const [recovering, setRecovering] = useState(!methods.includes('totp') && !methods.includes('passkey'))
  const [busy, setBusy] = useState(false)
  const withPasskey = async (): Promise<void> => {
    setBusy(true)
    try {
      const response = await startAuthentication({ optionsJSON: passkey as never })
      await account.finishSignIn({ challenge, passkey: response as never })
      await onDone()
    } catch (error) {
      toast.failed('The passkey was not accepted', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-col gap-4">
      {methods.includes('passkey') && !recovering && (
        <Button look="primary" disabled={busy} onClick={() => void withPasskey()}>
          Use a passkey
        </Button>
      )}
      {(methods.includes('totp') || recovering) && (
        <Form<{ code: string }>
          key={String(recovering)}
          submit="Sign in"
          onSubmit={async ({ code }) => {
            await account.finishSignIn({ challenge, ...(recovering ? { recovery_code: code } : { code }) })
            await onDone()
          }}
        >
          {recovering ? (
            <Field name="code" label="Recovery code" hint="One of your ten recovery codes. Each works once.">
              <Input required autoFocus autoComplete="off" spellCheck={false} />
            </Field>
          ) : (
            <Field name="code" label="Code" hint="Six digits, from your authenticator app.">
              <Input required autoFocus autoComplete="one-time-code" inputMode="numeric" maxLength={10} />
            </Field>
          )}
        </Form>
      )}
      {methods.includes('recovery_code') && (
        <button type="button" className="text-left text-ink-2 underline" onClick={() => setRecovering(!recovering)}>
          {recovering ? 'Use another method' : 'Use a recovery code'}
        </button>
      )}
    </div>
  )
}
