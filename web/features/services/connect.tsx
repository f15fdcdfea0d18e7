import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Credential, ServiceDetail } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { CreateCredential } from '../credentials/create.tsx'
import { formsOfService } from '../credentials/forms.ts'

/**
 * The form that the service itself describes. A credential that needs consent opens its page, where the consent starts.
 */
export function ConnectDialog({ service, onClose }: { service: ServiceDetail; onClose(): void }) {
  const kinds = useApi('listCredentialKinds')
  const navigate = useNavigate()
  const [chosen, setChosen] = useState(0)
  const done = ({ name, kind, credential_id }: Credential): void => {
    toast.done(`${name} is stored`)
    onClose()
    if (kind === 'oauth2_code') void navigate({ to: `/credentials/${credential_id}` })
  }
  return (
    <Dialog open onClose={onClose} size="medium" title={`Connect ${service.title}`}>
      <Loaded of={kinds} what="the kinds of credentials">
        {(all) => {
          const forms = formsOfService(all, service)
          const form = forms[chosen]
          return (
            <div className="flex flex-col gap-4">
              {service.package?.holds_secret && (
                <p>The code of this piece is given the secret itself, because it cannot work with a placeholder.</p>
              )}
              {forms.length > 1 && (
                <Field label="How">
                  <Select
                    value={String(chosen)}
                    onChange={(event) => setChosen(Number(event.currentTarget.value))}
                    options={forms.map(({ title }, at) => ({ value: String(at), label: title }))}
                  />
                </Field>
              )}
              {form && <CreateCredential key={chosen} form={form} onCreated={done} />}
            </div>
          )
        }}
      </Loaded>
    </Dialog>
  )
}
