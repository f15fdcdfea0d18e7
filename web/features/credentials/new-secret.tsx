import type { Credential } from '#sdk/types.generated'
import { api, invalidate, useApi } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { formOf, formsOfService, readFilled, secretSchema } from './forms.ts'

/** Replaces the secret in place: the id stays, so all workflows continue to work. */
export function NewSecret({ open, onClose, credential }: { open: boolean; onClose(): void; credential: Credential }) {
  const kinds = useApi('listCredentialKinds', {}, { enabled: open })
  const piece = credential.kind === 'piece' ? String(credential.config.service) : ''
  const service = useApi('getService', { service: piece, action: '-' }, { enabled: open && piece !== '' })
  const send = async (value: unknown): Promise<void> => {
    const { secrets } = readFilled(value)
    await api.rotateSecret({ credential_id: credential.credential_id, secrets })
    await invalidate('getCredential', 'listCredentials', 'listJobs')
    toast.done('The new secret is stored')
    onClose()
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="medium"
      title={`New secret for ${credential.name}`}
      description="It replaces the stored one at once, everywhere the credential is named."
    >
      {open && (
        <Loaded of={kinds} what="the form">
          {(all) => {
            const own = service.data && formsOfService(all, service.data)
            const form =
              own?.find(({ fixed }) => fixed?.auth === credential.config.auth) ??
              formOf(all, { kind: credential.kind, service: credential.service ?? undefined })
            if (piece !== '' && service.isPending) return null
            return form ? <SchemaForm schema={secretSchema(form)} onSubmit={send} submit="Save secret" /> : null
          }}
        </Loaded>
      )}
    </Dialog>
  )
}
