import type { Subscription } from '#sdk/types.generated'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select, Textarea } from '#web/ui/field.tsx'
import { readObject } from '../companies/metadata.ts'

type Values = {
  name: string
  status: 'active' | 'paused' | 'ended'
  quantity: string
  starts_at: string
  ends_at: string
  metadata: string
}
export type RecordBody = {
  name: string
  status: 'active' | 'paused' | 'ended'
  quantity: number
  starts_at?: string
  ends_at: string | null
  metadata: Record<string, unknown>
}

const dayOf = (time: string | null | undefined): string => time?.slice(0, 10) ?? ''
const timeOf = (day: string, old: string | null | undefined): string =>
  day === dayOf(old) && old ? old : `${day}T00:00:00.000Z`

export function RecordDialog({
  open,
  onClose,
  title,
  submit,
  record,
  onSave,
}: {
  open: boolean
  onClose(): void
  title: string
  submit: string
  record?: Subscription
  onSave(values: RecordBody): Promise<unknown>
}) {
  return (
    <Dialog open={open} onClose={onClose} title={title} size="medium">
      <Form<Values>
        submit={submit}
        onCancel={onClose}
        onSubmit={({ name, status, quantity, starts_at, ends_at, metadata }) =>
          onSave({
            name,
            status,
            quantity: Number(quantity),
            ...(starts_at && { starts_at: timeOf(starts_at, record?.starts_at) }),
            ends_at: ends_at ? timeOf(ends_at, record?.ends_at) : null,
            metadata: readObject(metadata),
          })
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} defaultValue={record?.name ?? ''} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field name="status" label="State">
            <Select
              defaultValue={record?.status ?? 'active'}
              options={[
                { value: 'active', label: 'Active' },
                { value: 'paused', label: 'Paused' },
                { value: 'ended', label: 'Ended' },
              ]}
            />
          </Field>
          <Field name="quantity" label="Quantity">
            <Input type="number" required min={0} step={1} defaultValue={record?.quantity ?? 1} />
          </Field>
          <Field name="starts_at" label="From">
            <Input type="date" defaultValue={dayOf(record?.starts_at)} />
          </Field>
          <Field name="ends_at" label="To" hint="Empty: no limit.">
            <Input type="date" defaultValue={dayOf(record?.ends_at)} />
          </Field>
        </div>
        <Field name="metadata" label="Notes" hint="A JSON object.">
          <Textarea
            rows={4}
            spellCheck={false}
            className="font-mono text-xs"
            defaultValue={record ? JSON.stringify(record.metadata, null, 2) : ''}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
