import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { IconButton } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'

/** Renames a workflow. The name is not part of its versions, so the change takes effect at once. */
export function Rename({ workflow }: { workflow: Workflow }) {
  const [open, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  const update = useChange('updateWorkflow', { stale: ['getWorkflow', 'listWorkflows'], onDone: close })
  return (
    <>
      <IconButton
        size="small"
        icon={Pencil}
        label="Rename the workflow"
        className="max-md:hidden"
        onClick={() => setOpen(true)}
      />
      <Dialog open={open} onClose={close} title="Rename the workflow">
        <Form<{ name: string }>
          submit="Rename"
          onCancel={close}
          onSubmit={({ name }) => update.mutateAsync({ workflow_id: workflow.workflow_id, name })}
        >
          <Field name="name" label="Name">
            <Input required maxLength={200} defaultValue={workflow.name} autoFocus />
          </Field>
        </Form>
      </Dialog>
    </>
  )
}
