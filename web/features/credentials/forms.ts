import type { CredentialKinds } from '#sdk/types.generated'

export type Kinds = CredentialKinds
export type CredentialForm = {
  title: string
  kind: string
  service?: string | undefined
  hosts: string[]
  config: Record<string, unknown>
  config_schema: Record<string, unknown>
  secret_schema: Record<string, unknown>
  help?: string | null | undefined
}

type Properties = Record<string, Record<string, unknown>>

/** The form of a kind, or of a known service: what is known of that is filled in. */
export function formOf(kinds: Kinds, chosen: { kind?: string | undefined; service?: string | undefined }) {
  const service = kinds.services.find((one) => one.service === chosen.service)
  const kind = kinds.kinds.find((one) => one.kind === (service?.kind ?? chosen.kind))
  if (kind === undefined) return undefined
  const form: CredentialForm = {
    title: service?.title ?? kind.title,
    kind: kind.kind,
    hosts: service?.hosts ?? [],
    config: service?.config ?? {},
    config_schema: kind.kind === 'service' ? { type: 'object', properties: {} } : kind.config_schema,
    secret_schema: service?.secret_schema ?? kind.secret_schema,
    ...(service && { service: service.service, help: service.help }),
  }
  return form
}

const hidden = (schema: Record<string, unknown>): Record<string, unknown> => ({
  ...schema,
  title: 'Secret',
  description: 'Stored encrypted together with its hosts, sent only to them, never shown again.',
  properties: Object.fromEntries(
    Object.entries((schema.properties ?? {}) as Properties).map(([name, field]) => [
      name,
      { ...field, format: field['x-editor'] === 'text' ? 'textarea' : 'password' },
    ]),
  ),
})

export const newSchema = (form: CredentialForm): Record<string, unknown> => ({
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200 },
    ...(form.kind !== 'llm' && {
      hosts: {
        type: 'array',
        title: 'Hosts',
        description: 'Where the secret may be sent: api.example.com, or *.example.com for every name below it.',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
      },
    }),
    ...(Object.keys((form.config_schema.properties ?? {}) as object).length > 0 && {
      config: { ...form.config_schema, title: 'Settings' },
    }),
    secrets: hidden(form.secret_schema),
  },
  required: form.kind === 'llm' ? ['name', 'secrets'] : ['name', 'hosts', 'secrets'],
})

export const secretSchema = (form: CredentialForm): Record<string, unknown> => ({
  type: 'object',
  properties: { secrets: hidden(form.secret_schema) },
  required: ['secrets'],
})

type Filled = { name?: string; hosts?: string[]; config?: Record<string, unknown>; secrets?: Record<string, string> }

const withoutEmpty = <T>(given: Record<string, T> = {}): Record<string, T> =>
  Object.fromEntries(Object.entries(given).filter(([, field]) => field !== undefined && field !== ''))

/** What was left empty is left out. */
export function readFilled(value: unknown) {
  const { name = '', hosts = [], config, secrets } = (value ?? {}) as Filled
  return {
    name,
    hosts: hosts.filter((host) => host !== undefined && host.trim() !== ''),
    config: withoutEmpty(config),
    secrets: withoutEmpty(secrets),
  }
}

export const stateLabels: Record<string, string> = {
  ready: 'Ready',
  needs_authorization: 'Not connected',
  needs_reconnect: 'Connect again',
  revoked: 'Revoked',
}
