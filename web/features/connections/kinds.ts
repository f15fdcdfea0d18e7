import type { ConnectionList } from '#sdk/types.generated'

export type Kind = ConnectionList['kinds'][number]

/** One form for what is asked of a kind: its own schema, and its secrets as fields that hide what is typed. */
export const formSchema = (kind: Kind, { named }: { named: boolean }): Record<string, unknown> => ({
  type: 'object',
  properties: {
    ...(named && {
      name: { type: 'string', title: 'Name', minLength: 1, maxLength: 200, description: 'A name for this connection.' },
    }),
    config: { ...withOwnFields(kind.config_schema), title: 'Connection details' },
    ...(kind.secret_fields.length > 0 && {
      secrets: {
        type: 'object',
        title: 'Secrets',
        description: 'Stored encrypted, sent only to the host above, never shown again.',
        properties: Object.fromEntries(
          kind.secret_fields.map(({ name, title, multiline }) => [
            name,
            { type: 'string', title, format: multiline ? 'textarea' : 'password' },
          ]),
        ),
        required: kind.secret_fields.filter(({ required }) => required).map(({ name }) => name),
      },
    }),
  },
  required: named ? ['name', 'config'] : ['config'],
})

export type Filled = { name?: string; config?: Record<string, unknown>; secrets?: Record<string, string> }

/** What was left empty is left out. */
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

/** A certificate is many lines long, and how a connection is encrypted is said in words. */
function withOwnFields(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = schema.properties as Record<string, Record<string, unknown>> | undefined
  if (!properties) return schema
  return {
    ...schema,
    properties: {
      ...properties,
      ...(properties.ca && { ca: { ...properties.ca, format: 'textarea' } }),
      ...(properties.ssl && {
        ssl: { type: 'string', title: properties.ssl.title, default: 'verify', oneOf: encryptions },
      }),
    },
  }
}

/** The service knows other words for the same; these are all there are to choose from. */
const encryptions = [
  { const: 'verify', title: 'Encrypted, and the certificate is checked' },
  { const: 'no-verify', title: 'Encrypted, the certificate is not checked' },
  { const: 'prefer', title: 'Encrypted where the server offers it (only on this machine)' },
  { const: 'off', title: 'Not encrypted: the password is sent in clear' },
]
