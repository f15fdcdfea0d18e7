import type { Credential } from '#sdk/types.generated'
import { api, invalidate, newKey } from '#web/api.ts'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { type CredentialForm, newSchema, readFilled } from './forms.ts'

const firstHosts = ({ kind, hosts }: CredentialForm): string[] => (hosts.length > 0 || kind === 'piece' ? hosts : [''])

/** The form that stores a credential. `given` contains initial values. */
export function CreateCredential({
  form,
  given = {},
  onCreated,
}: {
  form: CredentialForm
  given?: Record<string, unknown>
  onCreated(credential: Credential): void
}) {
  const send = async (value: unknown): Promise<void> => {
    const { name, hosts, secrets, ...filled } = readFilled(value)
    const config = { ...form.fixed, ...filled.config }
    const made = await api.createCredential(
      {
        name,
        kind: form.kind as Credential['kind'],
        ...(form.service !== undefined && { service: form.service }),
        ...(hosts.length > 0 && { hosts }),
        ...(Object.keys(config).length > 0 && { config }),
        secrets,
      },
      { idempotencyKey: newKey() },
    )
    await invalidate('listCredentials', 'listServiceCredentials')
    onCreated(made)
  }
  return (
    <>
      {form.help && (
        <p className="mb-4 text-ink-2">
          You get the secret at <SafeLink to={form.help}>{new URL(form.help).host}</SafeLink>.
        </p>
      )}
      <SchemaForm
        schema={newSchema(form)}
        value={{ name: form.title, hosts: firstHosts(form), config: form.config, ...given }}
        onSubmit={send}
        submit="Save credential"
      />
    </>
  )
}
