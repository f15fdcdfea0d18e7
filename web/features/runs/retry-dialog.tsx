import { useNavigate } from '@tanstack/react-router'
import type { Node } from '#model/definition'
import { api, invalidate, newKey } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Select } from '#web/ui/field.tsx'

/** Retries an execution as a new execution; steps finished before the chosen step are kept, not repeated. */
export function RetryDialog({
  execution_id,
  from,
  nodes,
  onClose,
}: {
  execution_id: string
  /** `start`, `failed` or a node to start with; null while closed. */
  from: string | null
  nodes: Node[]
  onClose(): void
}) {
  const navigate = useNavigate()
  return (
    <Dialog
      open={from !== null}
      onClose={onClose}
      title="Run again"
      description="Creates a new run with the same input. This run is kept."
    >
      <Form<{ from: string; version: 'same' | 'active' }>
        key={from}
        submit="Run again"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { execution_id: next } = await api.retryExecution(
            { execution_id, ...values },
            { idempotencyKey: newKey() },
          )
          await invalidate('searchExecutions', 'listExecutions')
          onClose()
          await navigate({ to: `/runs/${next}` })
        }}
      >
        <Field
          name="from"
          label="Start from"
          hint="Earlier steps keep their outputs. This step and all later steps run again."
        >
          <Select
            defaultValue={from ?? 'start'}
            options={[
              { value: 'start', label: 'The first step' },
              { value: 'failed', label: 'The failed step' },
              ...nodes.map(({ id, name }) => ({ value: id, label: name || id })),
            ]}
          />
        </Field>
        <Field name="version" label="Version">
          <Select
            defaultValue="same"
            options={[
              { value: 'same', label: 'Same as this run' },
              { value: 'active', label: 'The active version' },
            ]}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
