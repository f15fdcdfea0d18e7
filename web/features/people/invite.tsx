import { useState } from 'react'
import type { Invitation } from '#sdk/types.generated'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, type Option, Select } from '#web/ui/field.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { roleLabel } from './roles.ts'

export type InviteProps = {
  open: boolean
  onClose(): void
  title: string
  description: string
  roles: readonly Option[]
  onInvite(values: { email: string; role: string }): Promise<Invitation>
}

/** The invitation dialog for workspaces, threads and jobs: an address, a role, and afterwards the link to pass on. */
export function InviteDialog({ open, onClose, title, description, roles, onInvite }: InviteProps) {
  const [made, setMade] = useState<Invitation | null>(null)
  const close = (): void => {
    setMade(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={title} description={made ? undefined : description}>
      {made ? (
        <Made made={made} onAgain={() => setMade(null)} onClose={close} />
      ) : (
        <Form<{ email: string; role: string }>
          submit="Invite"
          onCancel={close}
          onSubmit={async (values) => setMade(await onInvite(values))}
        >
          <Field name="email" label="E-mail">
            <Input type="email" required autoFocus placeholder="colleague@example.com" />
          </Field>
          <Field name="role" label="Role">
            <Select options={roles} defaultValue={roles[0]?.value} />
          </Field>
        </Form>
      )}
    </Dialog>
  )
}

function Made({ made, onAgain, onClose }: { made: Invitation; onAgain(): void; onClose(): void }) {
  return (
    <div className="flex flex-col gap-4">
      {made.state === 'added' ? (
        <p role="status">
          <strong>{made.email}</strong> was added as {roleLabel(made.role)}.
        </p>
      ) : (
        <>
          <p role="status">
            The invitation for <strong>{made.email}</strong> is ready. It can be used once
            {made.expires_at && (
              <>
                {' '}
                and expires <RelativeTime at={made.expires_at} />
              </>
            )}
            .
          </p>
          {made.link && <CopyField label="Link to send" text={made.link} secret />}
        </>
      )}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onAgain}>
          Invite another
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
