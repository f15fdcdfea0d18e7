import type { CredentialKinds, ServiceAuth, ServiceDetail } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'

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
  /** Settings that the user does not fill in. */
  fixed?: Record<string, unknown>
}

type Properties = Record<string, Record<string, unknown>>

/** Titles of the kinds and of their fields, which the service returns in English. */
const known: Record<string, string> = {
  'Bearer token': 'Bearer token',
  Header: 'Header',
  'Query parameter': 'Query parameter',
  'User name and password': 'User name and password',
  'OAuth2 for programs': 'OAuth2 for programs',
  'OAuth2 with consent': 'OAuth2 with consent',
  'AWS signature': 'AWS signature',
  'Client certificate': 'Client certificate',
  'Language model': 'Language model',
  Service: 'Service',
  Piece: 'Piece',
  Token: 'Token',
  Value: 'Value',
  'Prefix of the value': 'Prefix of the value',
  Parameter: 'Parameter',
  'User name': 'User name',
  Password: 'Password',
  Scopes: 'Scopes',
  'How the client signs in': 'How the client signs in',
  'Token address': 'Token address',
  'Authorization address': 'Authorization address',
  'Client id': 'Client id',
  'Client secret': 'Client secret',
  'Additional parameters of the token request': 'Additional parameters of the token request',
  'Additional parameters of the authorization address': 'Additional parameters of the authorization address',
  Region: 'Region',
  'Access key id': 'Access key id',
  'Secret access key': 'Secret access key',
  'Session token': 'Session token',
  'Certificate (PEM)': 'Certificate (PEM)',
  'Private key (PEM)': 'Private key (PEM)',
  Provider: 'Provider',
  'Base address, with /v1': 'Base address, with /v1',
  Model: 'Model',
  Key: 'Key',
}
const said = (title: string): string => known[title] ?? title

const kindTitles: Record<string, string> = {
  bearer: 'Bearer token',
  header: 'Header',
  query: 'Query parameter',
  basic: 'User name and password',
  oauth2_client: 'OAuth2 for programs',
  oauth2_code: 'OAuth2 with consent',
  aws_sigv4: 'AWS signature',
  tls_client: 'Client certificate',
  llm: 'Language model',
  service: 'Service',
  piece: 'Piece',
}
/** Returns the title of a kind; a kind of a newer service keeps its own name. */
export const kindTitle = (kind: string): string => kindTitles[kind] ?? kind

const withTitles = (schema: Record<string, unknown>): Record<string, unknown> => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries((schema.properties ?? {}) as Properties).map(([name, field]) => [
      name,
      typeof field.title === 'string' ? { ...field, title: said(field.title) } : field,
    ]),
  ),
})

/** Returns the form of a kind, or of a known service, with its known values filled in. */
export function formOf(kinds: Kinds, chosen: { kind?: string | undefined; service?: string | undefined }) {
  const service = kinds.services.find((one) => one.service === chosen.service)
  const kind = kinds.kinds.find((one) => one.kind === (service?.kind ?? chosen.kind))
  if (kind === undefined) return undefined
  const form: CredentialForm = {
    title: service?.title ?? kindTitle(kind.kind),
    kind: kind.kind,
    hosts: service?.hosts ?? [],
    config: service?.config ?? {},
    config_schema: kind.kind === 'service' ? { type: 'object', properties: {} } : withTitles(kind.config_schema),
    secret_schema: withTitles(service?.secret_schema ?? kind.secret_schema),
    ...(service && { service: service.service, help: service.help }),
  }
  return form
}

type AuthField = NonNullable<ServiceAuth['fields']>[number]

const fieldSchema = ({ title, description, required, default: suggested, options }: AuthField) => {
  const choices = typeof suggested === 'boolean' ? ['true', 'false'] : options?.map(({ value }) => String(value))
  return {
    type: 'string',
    title,
    ...(description !== '' && { description }),
    ...(required && { minLength: 1 }),
    ...(choices && { enum: choices }),
    ...(suggested !== undefined && suggested !== null && { default: String(suggested) }),
  }
}

const fieldsSchema = (fields: readonly AuthField[]) => ({
  type: 'object',
  properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
  required: fields.filter(({ required }) => required).map(({ name }) => name),
})

/** Returns the form for the code of a piece: its secret fields are separate from the others. */
function formOfPiece(title: string, { config, fields = [] }: ServiceAuth): CredentialForm {
  const plain = fields.filter(({ secret }) => !secret)
  const suggested = plain.flatMap(({ name, default: value }) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
  const values = { ...fieldsSchema(plain), title: 'Account' }
  return {
    title,
    kind: 'piece',
    hosts: [],
    config: { values: Object.fromEntries(suggested) },
    fixed: config,
    config_schema: { type: 'object', properties: plain.length > 0 ? { values } : {} },
    secret_schema: fieldsSchema(fields.filter(({ secret }) => secret)),
  }
}

const hostOf = (address: string | null): string[] =>
  address !== null && URL.canParse(address) ? [new URL(address).host] : []

/**
 * Returns the ways to connect an account of a service: its presets, or the ways that its document or its code
 * describes.
 */
export function formsOfService(kinds: Kinds, service: ServiceDetail): CredentialForm[] {
  if (service.source === 'built_in')
    return service.credentials.flatMap((preset) => formOf(kinds, { service: preset }) ?? [])
  return service.auth.flatMap((auth) => {
    if (auth.kind === 'piece') return [formOfPiece(`${service.title}: ${auth.title}`, auth)]
    const form = formOf(kinds, { kind: auth.kind })
    if (!form) return []
    const hosts = service.source === 'piece' ? [] : hostOf(service.base_url)
    return [{ ...form, title: `${service.title}: ${auth.title}`, hosts, config: auth.config }]
  })
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
        description:
          form.kind === 'piece'
            ? t(
                'Where the secret may be sent: api.example.com, or *.example.com for every name below it. Left empty, the hosts of the addresses in the account.',
              )
            : t('Where the secret may be sent: api.example.com, or *.example.com for every name below it.'),
        items: { type: 'string', minLength: 1 },
        ...(form.kind !== 'piece' && { minItems: 1 }),
      },
    }),
    ...(Object.keys((form.config_schema.properties ?? {}) as object).length > 0 && {
      config: { ...form.config_schema, title: 'Settings' },
    }),
    secrets: hidden(form.secret_schema),
  },
  required: form.kind === 'llm' || form.kind === 'piece' ? ['name', 'secrets'] : ['name', 'hosts', 'secrets'],
})

export const secretSchema = (form: CredentialForm): Record<string, unknown> => ({
  type: 'object',
  properties: { secrets: hidden(form.secret_schema) },
  required: ['secrets'],
})

type Filled = { name?: string; hosts?: string[]; config?: Record<string, unknown>; secrets?: Record<string, string> }

const withoutEmpty = <T>(given: Record<string, T> = {}): Record<string, T> =>
  Object.fromEntries(Object.entries(given).filter(([, field]) => field !== undefined && field !== ''))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the filled-in values; empty fields are left out. */
export function readFilled(value: unknown) {
  const { name = '', hosts = [], config, secrets } = (value ?? {}) as Filled
  return {
    name,
    hosts: hosts.filter((host) => host !== undefined && host.trim() !== ''),
    config: withoutEmpty(isRecord(config?.values) ? { ...config, values: withoutEmpty(config.values) } : config),
    secrets: withoutEmpty(secrets),
  }
}

export const stateLabels: Record<string, string> = {
  ready: 'Ready',
  needs_authorization: 'Not connected',
  needs_reconnect: 'Connect again',
  revoked: 'Revoked',
}
