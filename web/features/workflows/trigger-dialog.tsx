import { useState } from 'react'
import type { ServiceDetail, ServiceInList } from '#sdk/types.generated'
import { useAll, useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Select } from '#web/ui/field.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loaded, Loading } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { ConnectDialog } from '../services/connect.tsx'
import { argumentsIn, wordsOf } from '../services/words.ts'
import { withTitles } from './trigger-schema.ts'

const intervals = [
  { value: '60', label: 'Every minute' },
  { value: '300', label: 'Every 5 minutes' },
  { value: '900', label: 'Every 15 minutes' },
  { value: '3600', label: 'Every hour' },
  { value: '86400', label: 'Every day' },
]
const FIRST_INTERVAL = '300'
/** A name that matches no action, so that the response omits the arguments of actions. */
const NO_ACTION = '-'

type Chosen = { service: string; trigger: string }

/** Selects a service, one of its triggers, the account to use, and the arguments of the trigger. */
export function TriggerDialog({ workflow_id, onClose }: { workflow_id: string; onClose(): void }) {
  const { data: services } = useAll('listServices', { limit: 200 })
  const [chosen, setChosen] = useState<Chosen>({ service: '', trigger: '' })
  const offered = services?.filter(({ triggers }) => triggers.length > 0)
  const service = offered?.find((one) => one.service === chosen.service)
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title="Add trigger"
      description="Existing items start no runs. Each new item starts one run of the active version."
    >
      {offered === undefined ? (
        <Loading rows={3} />
      ) : (
        <div className="flex flex-col gap-4">
          <Field label="Service">
            <Select
              value={chosen.service}
              onChange={(event) => setChosen(first(offered, event.currentTarget.value))}
              options={[
                { value: '', label: 'Choose…', disabled: true },
                ...offered
                  .map(({ service: value, title }) => ({ value, label: title }))
                  .sort((a, b) => a.label.localeCompare(b.label)),
              ]}
            />
          </Field>
          {service && (
            <Field label="Starts with">
              <Select
                value={chosen.trigger}
                onChange={(event) => setChosen({ ...chosen, trigger: event.currentTarget.value })}
                options={service.triggers.map(({ name, title }) => ({ value: name, label: wordsOf(service, title) }))}
              />
            </Field>
          )}
          {service && <Details key={chosen.service} workflow_id={workflow_id} chosen={chosen} onClose={onClose} />}
        </div>
      )}
    </Dialog>
  )
}

const first = (offered: readonly ServiceInList[], service: string): Chosen => ({
  service,
  trigger: offered.find((one) => one.service === service)?.triggers[0]?.name ?? '',
})

type DetailsProps = { workflow_id: string; chosen: Chosen; onClose(): void }

function Details({ workflow_id, chosen, onClose }: DetailsProps) {
  const detail = useApi('getService', { service: chosen.service, action: NO_ACTION })
  const [credentialId, setCredentialId] = useState('')
  const [every, setEvery] = useState(FIRST_INTERVAL)
  const create = useChange('createTrigger', {
    stale: ['listTriggers', 'listWorkflows'],
    done: 'Trigger added',
    onDone: onClose,
  })
  return (
    <Loaded of={detail} what="the service">
      {(service) => {
        const trigger = service.triggers.find(({ name }) => name === chosen.trigger)
        if (!trigger) return null
        const save = async (args: unknown): Promise<void> => {
          if (service.credential_required && credentialId === '') throw new Error(t('Choose an account.'))
          await create.mutateAsync({
            workflow_id,
            ...chosen,
            args: (args ?? {}) as Record<string, unknown>,
            ...(credentialId !== '' && { credential_id: credentialId }),
            ...(trigger.kind === 'polling' && { every_s: Number(every) }),
          })
        }
        return (
          <div className="flex flex-col gap-4">
            <Account service={service} value={credentialId} onChange={setCredentialId} />
            {trigger.kind === 'polling' && (
              <Field label="Check for new items">
                <Select value={every} onChange={(event) => setEvery(event.currentTarget.value)} options={intervals} />
              </Field>
            )}
            <Arguments
              key={trigger.name}
              schema={withTitles(argumentsIn(service, trigger.args_schema))}
              onSave={save}
            />
          </div>
        )
      }}
    </Loaded>
  )
}

function Arguments({ schema, onSave }: { schema: Record<string, unknown>; onSave(args: unknown): Promise<void> }) {
  const takesAny = Object.keys((schema.properties ?? {}) as object).length > 0
  if (!takesAny)
    return (
      <Form submit="Save trigger" onSubmit={() => onSave({})}>
        {null}
      </Form>
    )
  return <SchemaForm schema={schema} submit="Save trigger" onSubmit={onSave} />
}

function Account({
  service,
  value,
  onChange,
}: {
  service: ServiceDetail
  value: string
  onChange(credentialId: string): void
}) {
  const takesOne = service.credentials.length + service.auth.length > 0
  const accounts = useAll('listServiceCredentials', { service: service.service, limit: 200 }, { enabled: takesOne })
  const [connecting, setConnecting] = useState(false)
  if (!takesOne) return null
  const usable = (accounts.data ?? []).filter(({ role }) => role !== 'see' && role !== 'manage')
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Field label="Account" className="min-w-60 flex-1">
        <Select
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          options={[
            { value: '', label: usable.length === 0 ? 'No account is connected' : 'Choose…' },
            ...usable.map(({ credential_id, name }) => ({ value: credential_id, label: name })),
          ]}
        />
      </Field>
      <Button onClick={() => setConnecting(true)}>Connect account</Button>
      {connecting && <ConnectDialog service={service} onClose={() => setConnecting(false)} />}
    </div>
  )
}
