import { useState } from 'react'
import type { Credential } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { CreateCredential } from './create.tsx'
import { formOf } from './forms.ts'

/** Stores a credential without leaving the current page. */
export function CreateHere({
  open,
  onClose,
  kind = 'bearer',
  given,
  onCreated,
}: {
  open: boolean
  onClose(): void
  kind?: string
  given?: Record<string, unknown> | undefined
  onCreated(credential: Credential): void
}) {
  const [chosen, setChosen] = useState(kind)
  const kinds = useApi('listCredentialKinds', {}, { enabled: open })
  const service = chosen.startsWith('service:') ? chosen.slice('service:'.length) : undefined
  return (
    <Dialog open={open} onClose={onClose} size="medium" title="New credential">
      {open && (
        <Loaded of={kinds} what="the kinds of credentials">
          {(all) => {
            const form = formOf(all, { kind: chosen, service })
            return (
              <div className="flex flex-col gap-4">
                <Field label="Kind">
                  <Select
                    value={chosen}
                    onChange={(event) => setChosen(event.target.value)}
                    options={[
                      ...all.kinds
                        .filter((one) => one.kind !== 'service')
                        .map((one) => ({ value: one.kind, label: one.title })),
                      ...all.services.map((one) => ({ value: `service:${one.service}`, label: one.title })),
                    ]}
                  />
                </Field>
                {form && (
                  <CreateCredential
                    key={chosen}
                    form={form}
                    given={chosen === kind && given ? given : {}}
                    onCreated={(made) => {
                      onCreated(made)
                      onClose()
                    }}
                  />
                )}
              </div>
            )
          }}
        </Loaded>
      )}
    </Dialog>
  )
}
