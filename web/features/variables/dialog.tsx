import type { Variable } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { readValue, showValue } from './value.ts'

export function VariableDialog({ variable, onClose }: { variable: Variable | undefined; onClose(): void }) {
  const save = useChange('putVariable', { stale: ['listVariables', 'getVariable'], done: 'Saved', onDone: onClose })
  return (
    <Dialog
      open
      onClose={onClose}
      title={variable ? `Change ${variable.name}` : 'New variable'}
      description="Runs in progress keep the value they started with."
    >
      <Form<{ name: string; value: string; description: string }>
        submit="Save"
        onCancel={onClose}
        onSubmit={({ name, value, description }) =>
          save.mutateAsync({
            name: variable?.name ?? name,
            value: readValue(value),
            description: description === '' ? null : description,
          })
        }
      >
        {!variable && (
          <Field name="name" label="Name" hint="Letters, digits and _. Workflows read it as vars.NAME.">
            <Input required autoFocus maxLength={64} pattern="[A-Za-z_][A-Za-z0-9_]*" placeholder="REGION" />
          </Field>
        )}
        <Field name="value" label="Value" hint="Text, or JSON: 12, true, [1, 2], {&quot;a&quot;: 1}. Not for secrets.">
          <Textarea
            rows={4}
            spellCheck={false}
            className="font-mono text-xs"
            defaultValue={variable ? showValue(variable.value) : ''}
          />
        </Field>
        <Field name="description" label="Description">
          <Input maxLength={500} defaultValue={variable?.description ?? ''} />
        </Field>
      </Form>
    </Dialog>
  )
}
