import { useState } from 'react'
import type { AlertRule } from '#sdk/types.generated'
import { useAll, useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Checkbox, Field, Form, Input, Select } from '#web/ui/field.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { PeoplePicker } from '../people/picker.tsx'
import { workflowName } from '../workflows/built-in.ts'
import { hasWindow, kindOptions, kinds, thresholdOf, typedOf } from './words.ts'

type Values = { name: string; threshold: string; workflow_id: string; window: string }

const windows = [
  { value: '300', label: '5 minutes' },
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
]

/** Returns the choices of windows, including the current window of a rule that a program has set. */
const windowsFor = (rule: AlertRule | undefined): typeof windows =>
  rule === undefined || windows.some(({ value }) => value === String(rule.window_s))
    ? windows
    : [...windows, { value: String(rule.window_s), label: formatDuration(rule.window_s * 1000) }]

/** Creates a rule, or changes the limit of an existing rule, whose measure and scope stay the same. */
export function AlertDialog({ rule, onClose }: { rule?: AlertRule | undefined; onClose(): void }) {
  const { isOwner, userId } = useRole()
  const { list: people } = usePeople()
  const workflows = useAll('listWorkflows', { limit: 200 }, { enabled: rule === undefined })
  const [kind, setKind] = useState<AlertRule['kind']>(rule?.kind ?? 'failure_rate')
  const [mail, setMail] = useState(rule?.mail ?? false)
  const [recipients, setRecipients] = useState(rule?.people ?? [userId])
  const done = { stale: ['listAlertRules' as const], done: 'Saved', onDone: onClose }
  const create = useChange('createAlertRule', done)
  const update = useChange('updateAlertRule', done)
  const save = ({ name, threshold, workflow_id, window }: Values): Promise<unknown> => {
    if (recipients.length === 0 && !rule?.channel) throw new Error('Choose at least one person.')
    const body = {
      name,
      mail,
      people: recipients,
      threshold: thresholdOf(kind, Number(threshold)),
      ...(hasWindow(kind) && { window_s: Number(window) }),
    }
    return rule
      ? update.mutateAsync({ rule_id: rule.rule_id, ...body })
      : create.mutateAsync({ kind, ...body, ...(workflow_id && { workflow_id }) })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={rule ? `Change ${rule.name}` : 'New alert rule'}
      description={
        rule ? kinds[kind].label : 'The people below get one notification when the alert starts and one when it ends.'
      }
    >
      <Form<Values> submit="Save" onCancel={onClose} onSubmit={async (values) => save(values)}>
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} placeholder="Orders fail" defaultValue={rule?.name} />
        </Field>
        {rule === undefined && (
          <>
            <Field name="workflow_id" label="Watched">
              <Select
                options={[
                  ...(isOwner ? [{ value: '', label: 'The whole workspace' }] : []),
                  ...(workflows.data ?? []).map((one) => ({ value: one.workflow_id, label: workflowName(one) })),
                ]}
              />
            </Field>
            <Field name="kind" label="When">
              <Select
                options={kindOptions}
                value={kind}
                onChange={(event) => setKind(event.target.value as AlertRule['kind'])}
              />
            </Field>
          </>
        )}
        <Field name="threshold" label={`From ${kinds[kind].unit}`}>
          <Input
            key={kind}
            required
            type="number"
            min={0}
            step="any"
            defaultValue={rule ? typedOf(rule) : kinds[kind].usual}
          />
        </Field>
        {hasWindow(kind) && (
          <Field name="window" label="Within">
            <Select options={windowsFor(rule)} defaultValue={String(rule?.window_s ?? 900)} />
          </Field>
        )}
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">Who is notified</legend>
          <PeoplePicker
            people={people.filter(({ kind, role }) => kind === 'person' && role !== 'guest')}
            chosen={recipients}
            onChange={setRecipients}
            nobody="No one else is in this workspace."
          />
        </fieldset>
        <Checkbox checked={mail} onCheckedChange={(checked) => setMail(checked === true)} label="Also by mail" />
      </Form>
    </Dialog>
  )
}
