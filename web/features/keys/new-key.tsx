import { useState } from 'react'
import type { CreatedApiKey } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { ScopeFields } from './scopes.tsx'

const DAY = 86_400_000
const lengths = [
  { value: '90', label: '90 days' },
  { value: '30', label: '30 days' },
  { value: '7', label: '7 days' },
  { value: '365', label: 'A year' },
  { value: '', label: 'No expiry' },
]

type Values = { name: string; workspace_id?: string; days: string }
type Asked = { name: string; workspace_id: string | null; scopes: Scopes; expires_at: string | null }
type Scopes = CreatedApiKey['scopes']

export function NewKey({ open, onClose }: { open: boolean; onClose(): void }) {
  const create = useChange('createApiKey', { stale: ['listApiKeys'] })
  return (
    <NewKeyDialog
      open={open}
      onClose={onClose}
      everything="Everything I can do"
      onCreate={create.mutateAsync}
      choosesWorkspace
    />
  )
}

/** Creates a key of the user, or of a service account, which works in one workspace. */
export function NewKeyDialog({
  open,
  onClose,
  everything,
  choosesWorkspace = false,
  onCreate,
}: {
  open: boolean
  onClose(): void
  everything: string
  choosesWorkspace?: boolean
  onCreate(asked: Asked): Promise<CreatedApiKey>
}) {
  const { workspaces, workspace } = useMe()
  const [key, setKey] = useState<string | null>(null)
  const [scopes, setScopes] = useState<string[] | null>(null)
  const close = (): void => {
    setKey(null)
    setScopes(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={key ? 'Your new API key' : 'New API key'} size="medium">
      {key ? (
        <div className="flex flex-col gap-4">
          <CopyField label="API key" text={key} secret />
          <CopyField label="Try it" text={`curl ${location.origin}/auth/me -H 'Authorization: Bearer ${key}'`} />
          <div className="flex justify-end">
            <Button look="primary" onClick={close}>
              Saved
            </Button>
          </div>
        </div>
      ) : (
        <Form<Values>
          submit="Create key"
          onCancel={close}
          onSubmit={async ({ name, workspace_id, days }) => {
            const made = await onCreate({
              name,
              workspace_id: workspace_id || null,
              scopes: scopes as Scopes,
              expires_at: days ? new Date(Date.now() + Number(days) * DAY).toISOString() : null,
            })
            setKey(made.key)
          }}
        >
          <Field name="name" label="Name" hint="The program or person that will use it.">
            <Input required autoFocus maxLength={200} placeholder="Nightly export" />
          </Field>
          {choosesWorkspace && (
            <Field name="workspace_id" label="For" hint="A key for one workspace cannot access others.">
              <Select
                defaultValue={workspace?.workspace_id ?? ''}
                options={[
                  ...workspaces.map(({ workspace_id, name }) => ({ value: workspace_id, label: name })),
                  { value: '', label: 'All my workspaces' },
                ]}
              />
            </Field>
          )}
          <ScopeFields everything={everything} onChange={setScopes} />
          <Field name="days" label="Expires after">
            <Select defaultValue="90" options={lengths} />
          </Field>
        </Form>
      )}
    </Dialog>
  )
}
