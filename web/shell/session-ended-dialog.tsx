import { useState } from 'react'
import type { SecondFactorRequired } from '#sdk/types.generated'
import { account, queryClient } from '#web/api.ts'
import { SecondStep } from '#web/features/account/second-step.tsx'
import type { Person } from '#web/session.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'

/** Lets the user sign in again in place, so that typed text is not lost. */
export function SessionEndedDialog({ me, onBack }: { me: Person; onBack(): void }) {
  const [asked, setAsked] = useState<SecondFactorRequired | null>(null)
  const goOn = async (): Promise<void> => {
    if (me.workspace) await account.selectWorkspace({ workspace_id: me.workspace.workspace_id })
    onBack()
    await queryClient.invalidateQueries()
  }
  const leave = (): void =>
    location.assign(`/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`)
  return (
    <Dialog
      open
      onClose={leave}
      canClose={false}
      title="Your session has ended"
      description="Sign in again to continue. Your input is still here."
    >
      {asked ? (
        <SecondStep asked={asked} onDone={goOn} />
      ) : (
        <Form<{ password: string }>
          submit="Sign in again"
          aside={
            <button type="button" className="text-ink-2 underline" onClick={leave}>
              Other sign-in options
            </button>
          }
          onSubmit={async ({ password }) => {
            const answer = await account.signIn({ email: me.user.email, password })
            if ('second_factor_required' in answer) setAsked(answer)
            else await goOn()
          }}
        >
          <Field label="E-mail">
            <Input readOnly value={me.user.email} />
          </Field>
          <Field name="password" label="Password">
            <Input type="password" required autoFocus autoComplete="current-password" />
          </Field>
        </Form>
      )}
    </Dialog>
  )
}
