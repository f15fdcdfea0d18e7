import { useState } from 'react'
import type { AlertRule } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Checkbox, Field, Form, Input, Select } from '#web/ui/field.tsx'
import { hasWindow, kindOptions, kinds, thresholdOf } from './words.ts'

type Values = { name: string; threshold: string; workflow_id: string; window: string }

const windows = [
  { value: '300', label: '5 minutes' },
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
]

export function AlertDialog({ onClose }: { onClose(): void }) {
  const { isOwner } = useRole()
  const workflows = useApi('listWorkflows', { limit: 100 })
  const [kind, setKind] = useState<AlertRule['kind']>('failure_rate')
  const [mail, setMail] = useState(false)
  const create = useChange('createAlertRule', { stale: ['listAlertRules'], done: 'Saved', onDone: onClose })
  const scopes = [
    ...(isOwner ? [{ value: '', label: 'The whole workspace' }] : []),
    ...(workflows.data?.items ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
  ]
  return (
    <Dialog
      open
      onClose={onClose}
      title="New alert rule"
      description="You get one notification when it begins and one when it is over."
    >
      <Form<Values>
        submit="Save"
        onCancel={onClose}
        onSubmit={({ name, threshold, workflow_id, window }) =>
          create.mutateAsync({
            name,
            kind,
            mail,
            threshold: thresholdOf(kind, Number(threshold)),
            ...(workflow_id && { workflow_id }),
            ...(hasWindow(kind) && { window_s: Number(window) }),
          })
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} placeholder="Orders fail" />
        </Field>
        <Field name="workflow_id" label="Watched">
          <Select options={scopes} />
        </Field>
        <Field name="kind" label="When">
          <Select
            options={kindOptions}
            value={kind}
            onChange={(event) => setKind(event.target.value as AlertRule['kind'])}
          />
        </Field>
        <Field name="threshold" label={`From ${kinds[kind].unit}`}>
          <Input key={kind} required type="number" min={0} step="any" defaultValue={kinds[kind].usual} />
        </Field>
        {hasWindow(kind) && (
          <Field name="window" label="Within">
            <Select options={windows} defaultValue="900" />
          </Field>
        )}
        <Checkbox checked={mail} onCheckedChange={(checked) => setMail(checked === true)} label="Also by mail" />
      </Form>
    </Dialog>
  )
}
