import type { ConnectionList } from '#sdk/types.generated'
import { factsOf } from '#web/ui/schema-facts.ts'
import { t } from '#web/words/language.ts'

export type Kind = ConnectionList['kinds'][number]

/** Returns one form for a kind: its own schema, and its secrets as password fields. */
export const formSchema = (kind: Kind, { named }: { named: boolean }): Record<string, unknown> => ({
  type: 'object',
  properties: {
    ...(named && {
      name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200, description: 'A name for this connection.' },
    }),
    config: { ...withOwnFields(kind), title: 'Connection details' },
    ...(kind.secret_fields.length > 0 && {
      secrets: {
        type: 'object',
        title: 'Secrets',
        description: 'Stored encrypted, sent only to the host above, never shown again.',
        properties: Object.fromEntries(
          kind.secret_fields.map(({ name, title, multiline }) => [
            name,
            { type: 'string', title: said(title), format: multiline ? 'textarea' : 'password' },
          ]),
        ),
        required: kind.secret_fields.filter(({ required }) => required).map(({ name }) => name),
      },
    }),
  },
  required: named ? ['name', 'config'] : ['config'],
})

export type Filled = { name?: string; config?: Record<string, unknown>; secrets?: Record<string, string> }

/** Returns the filled-in values; empty fields are left out. */
export function readFilled(value: unknown): {
  name: string
  config: Record<string, unknown>
  secrets: Record<string, string>
} {
  const { name = '', config = {}, secrets = {} } = (value ?? {}) as Filled
  const filled = <T>(given: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(given).filter(([, field]) => field !== undefined && field !== ''))
  return { name, config: filled(config), secrets: filled(secrets) }
}

/** Returns the stored settings of a connection's location. */
export const placeOf = (kind: Kind | undefined, config: Record<string, unknown>): [string, string][] =>
  factsOf(kind ? withOwnFields(kind) : {}, config)

/** Titles and hints of the fields, which the service returns in English. */
const known: Record<string, string> = {
  'MySQL or MariaDB': t('MySQL or MariaDB'),
  Host: 'Host',
  Port: 'Port number',
  Database: 'Database',
  User: 'User',
  Password: 'Password',
  'Certificate authority (PEM)': 'Certificate authority (PEM)',
  Project: 'Project',
  Location: 'Location',
  Endpoint: 'Endpoint',
  'Only for a private endpoint': 'Only for a private endpoint',
  'Service account key (JSON)': 'Service account key (JSON)',
  'HTTP path': 'HTTP path',
  'Access token': 'Access token',
  Account: 'Account',
  Warehouse: 'Warehouse',
  Schema: 'Schema',
  Catalog: 'Catalog',
  'Default dataset': 'Default dataset',
  Role: 'Role',
  'Private key (PEM)': 'Private key (PEM)',
  "A database in the workspace's own area, made empty if it is not there; without one, in memory":
    "A database in the workspace's own area, made empty if it is not there; without one, in memory",
}
/** Returns a title of the service in the language of the console. */
export const said = (text: string): string => known[text] ?? text

/** Adapts fields: a certificate has many lines, and the encryption is described in words. */
function withOwnFields({ config_schema: schema }: Kind): Record<string, unknown> {
  if (!schema.properties) return schema
  const properties = Object.fromEntries(
    Object.entries(schema.properties as Record<string, Record<string, unknown>>).map(([name, field]) => [
      name,
      {
        ...field,
        ...(typeof field.title === 'string' && { title: said(field.title) }),
        ...(typeof field.description === 'string' && { description: said(field.description) }),
      },
    ]),
  )
  return {
    ...schema,
    properties: {
      ...properties,
      ...(properties.ca && { ca: { ...properties.ca, format: 'textarea' } }),
      ...(properties.ssl && {
        ssl: { type: 'string', title: 'Encryption', default: 'verify', oneOf: encryptions },
      }),
    },
  }
}

/** The service accepts other names for the same values; these are all the choices. */
const encryptions = [
  { const: 'verify', title: 'Encrypted, and the certificate is checked' },
  { const: 'no-verify', title: 'Encrypted, the certificate is not checked' },
  { const: 'prefer', title: 'Encrypted if the server supports it (only on this machine)' },
  { const: 'off', title: 'Not encrypted: the password is sent in clear' },
]
