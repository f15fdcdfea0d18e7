import type { ServiceAccount } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'

type Values = { name: string; description: string; role: 'member' | 'viewer' }

export function ServiceAccountDialog({ account, onClose }: { account?: ServiceAccount; onClose(): void }) {
  const stale = ['listServiceAccounts', 'getServiceAccount', 'listWorkspaceMembers'] as const
  const create = useChange('createServiceAccount', { stale: [...stale], done: 'Created', onDone: onClose })
  const change = useChange('updateServiceAccount', { stale: [...stale], done: 'Saved', onDone: onClose })
  return (
    <Dialog
      open
      onClose={onClose}
      title={account ? `Change ${account.name}` : 'New service account'}
      description="It belongs to the workspace. Nobody signs in as it: programs use its API keys."
    >
      <Form<Values>
        submit={account ? 'Save' : 'Create'}
        onCancel={onClose}
        onSubmit={({ name, description, role }) => {
          const values = { name, role, description: description === '' ? null : description }
          return account ? change.mutateAsync({ user_id: account.user_id, ...values }) : create.mutateAsync(values)
        }}
      >
        <Field name="name" label="Name" hint="The program that will use it.">
          <Input required autoFocus maxLength={200} placeholder="Deployments" defaultValue={account?.name} />
        </Field>
        <Field name="description" label="Description">
          <Input maxLength={500} defaultValue={account?.description ?? ''} />
        </Field>
        <Field name="role" label="Role">
          <Select
            defaultValue={account?.role ?? 'member'}
            options={[
              { value: 'member', label: 'Member: creates and runs workflows, data and conversations' },
              { value: 'viewer', label: 'Viewer: reads' },
            ]}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
