import { useState } from 'react'
import type { EventDestination, NewEventDestination } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Field, Form, Input, Select, withPresent } from '#web/ui/field.tsx'
import { workflowName } from '../workflows/built-in.ts'
import { TypeBoxes } from './types.tsx'

export type Values = {
  url: string
  event_types: NewEventDestination['event_types']
  workflow_id: string | null
  credential_id: string | null
}

type Typed = { url: string; workflow_id: string; credential_id: string }

export function DestinationForm({
  destination,
  submit,
  onSubmit,
  onCancel,
}: {
  destination?: EventDestination
  submit: string
  onSubmit(values: Values): Promise<unknown>
  onCancel(): void
}) {
  const { isOwner } = useRole()
  const [types, setTypes] = useState<string[]>(destination?.event_types ?? ['execution.failed'])
  const workflows = useAll('listWorkflows', { limit: 200 })
  const credentials = useAll('listCredentials', { usable: 'true', limit: 200 })
  return (
    <Form<Typed>
      submit={submit}
      onCancel={onCancel}
      onSubmit={({ url, workflow_id, credential_id }) =>
        onSubmit({
          url,
          event_types: types as Values['event_types'],
          workflow_id: workflow_id || null,
          credential_id: credential_id || null,
        })
      }
    >
      <Field name="url" label="Address" hint="Receives each event as a POST request with JSON.">
        <Input
          required
          autoFocus
          maxLength={2000}
          defaultValue={destination?.url}
          placeholder="https://example.com/heddle"
        />
      </Field>
      <TypeBoxes chosen={types} onChange={setTypes} withAudit={isOwner} />
      <Field name="workflow_id" label="Workflow" hint="Only events of its runs, approvals and questions.">
        <Select
          defaultValue={destination?.workflow_id ?? ''}
          options={withPresent(
            [
              { value: '', label: 'All that you can see' },
              ...(workflows.data ?? []).map((one) => ({ value: one.workflow_id, label: workflowName(one) })),
            ],
            destination?.workflow_id,
            'A workflow that you may not see',
          )}
        />
      </Field>
      <Field name="credential_id" label="Credential" hint="Sent if the receiver requires a token.">
        <Select
          defaultValue={destination?.credential_id ?? ''}
          options={withPresent(
            [
              { value: '', label: 'None: the signature is enough' },
              ...(credentials.data ?? []).map(({ credential_id, name }) => ({ value: credential_id, label: name })),
            ],
            destination?.credential_id,
            'A credential that you may not use',
          )}
        />
      </Field>
    </Form>
  )
}
