import { account } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'

export const NewWorkspace = ({ onClose, onMade }: { onClose(): void; onMade(workspaceId: string): void }) => (
  <Dialog open onClose={onClose} title="New workspace" description="A separate space for workflows, data and people.">
    <Form<{ name: string }>
      submit="Create workspace"
      onCancel={onClose}
      onSubmit={async ({ name }) => {
        const { workspace_id } = await account.createWorkspace({ name })
        onClose()
        onMade(workspace_id)
      }}
    >
      <Field name="name" label="Name">
        <Input required autoFocus maxLength={200} />
      </Field>
    </Form>
  </Dialog>
)
