import type { JsonObject } from '#model/definition'

// The kinds of credentials: the fields of each kind, and the settings that determine where its secret is sent.

export const credentialKinds = [
  'bearer',
  'header',
  'query',
  'basic',
  'oauth2_client',
  'oauth2_code',
  'aws_sigv4',
  'tls_client',
  'llm',
  'service',
  'piece',
] as const
export type CredentialKind = (typeof credentialKinds)[number]

export type KindForm = {
  kind: CredentialKind
  title: string
  description: string
  config_schema: JsonObject
  secret_schema: JsonObject
}

const form = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text = (title: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  title,
  minLength: 1,
  maxLength: 2_000,
  ...more,
})
/** A header value: one line of printable ASCII. Shorter secrets could not be masked in responses. */
const secret = (title: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  title,
  minLength: 4,
  maxLength: 16_000,
  pattern: '^[\\x20-\\x7e]*$',
  writeOnly: true,
  ...more,
})
const password = (title: string): JsonObject => ({
  type: 'string',
  title,
  minLength: 4,
  maxLength: 16_000,
  writeOnly: true,
})
const pem = (title: string): JsonObject => ({
  type: 'string',
  title,
  minLength: 40,
  maxLength: 65_536,
  writeOnly: true,
  'x-editor': 'text',
})
const address = (title: string): JsonObject => text(title, { format: 'uri', pattern: '^https?://' })
const NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$"

const scopes: JsonObject = {
  type: 'array',
  title: 'Scopes',
  items: { type: 'string', minLength: 1, maxLength: 500, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' },
  maxItems: 100,
}
const clientAuth: JsonObject = {
  enum: ['basic', 'body'],
  title: 'How the client signs in',
  description: '`basic`: in a header; `body`: in the form. The default is `basic`',
}
const parameters = (title: string): JsonObject => ({
  type: 'object',
  title,
  maxProperties: 20,
  additionalProperties: { type: 'string', maxLength: 2_000 },
})

export const llmProviders = ['openai', 'anthropic', 'google', 'openai-compatible'] as const
export type LlmProvider = (typeof llmProviders)[number]

const llmAddress: Record<LlmProvider, string | null> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  'openai-compatible': null,
}

export const kindForms: Record<CredentialKind, KindForm> = {
  bearer: {
    kind: 'bearer',
    title: 'Bearer token',
    description: 'Sent as `Authorization: Bearer …`',
    config_schema: form({}),
    secret_schema: form({ token: secret('Token') }),
  },
  header: {
    kind: 'header',
    title: 'Header',
    description: 'Sent in a header of your choice',
    config_schema: form(
      {
        name: text('Header', { pattern: NAME, maxLength: 128 }),
        prefix: { type: 'string', title: 'Prefix of the value', maxLength: 100, pattern: '^[\\x20-\\x7e]*$' },
      },
      ['name'],
    ),
    secret_schema: form({ value: secret('Value') }),
  },
  query: {
    kind: 'query',
    title: 'Query parameter',
    description: 'Sent as a parameter of the address',
    config_schema: form({ name: text('Parameter', { maxLength: 200 }) }),
    secret_schema: form({ value: password('Value') }),
  },
  basic: {
    kind: 'basic',
    title: 'User name and password',
    description: 'Sent as `Authorization: Basic …`',
    config_schema: form({ username: text('User name', { pattern: '^[^:]*$' }) }),
    secret_schema: form({ password: password('Password') }),
  },
  oauth2_client: {
    kind: 'oauth2_client',
    title: 'OAuth2 for programs',
    description: 'The client credentials grant: a token is fetched and renewed without a person',
    config_schema: form(
      {
        token_url: address('Token address'),
        client_id: text('Client id'),
        scopes,
        client_auth: clientAuth,
        token_parameters: parameters('Additional parameters of the token request'),
      },
      ['token_url', 'client_id'],
    ),
    secret_schema: form({ client_secret: password('Client secret') }),
  },
  oauth2_code: {
    kind: 'oauth2_code',
    title: 'OAuth2 with consent',
    description: 'A person gives consent at the service once; the token is then renewed automatically',
    config_schema: form(
      {
        authorize_url: address('Authorization address'),
        token_url: address('Token address'),
        client_id: text('Client id'),
        scopes,
        client_auth: clientAuth,
        authorize_parameters: parameters('Additional parameters of the authorization address'),
        token_parameters: parameters('Additional parameters of the token request'),
      },
      ['authorize_url', 'token_url', 'client_id'],
    ),
    secret_schema: form({ client_secret: password('Client secret') }),
  },
  aws_sigv4: {
    kind: 'aws_sigv4',
    title: 'AWS signature',
    description: 'Requests are signed (Signature Version 4); the secret key is never sent',
    config_schema: form({
      region: text('Region', { pattern: '^[a-z0-9-]+$', maxLength: 60 }),
      service: text('Service', { pattern: '^[a-z0-9-]+$', maxLength: 60 }),
      access_key_id: text('Access key id', { pattern: '^[\\x21-\\x7e]+$', maxLength: 200 }),
    }),
    secret_schema: form({ secret_access_key: secret('Secret access key'), session_token: secret('Session token') }, [
      'secret_access_key',
    ]),
  },
  tls_client: {
    kind: 'tls_client',
    title: 'Client certificate',
    description: 'Shown in the TLS handshake',
    config_schema: form({}),
    secret_schema: form({ certificate: pem('Certificate (PEM)'), private_key: pem('Private key (PEM)') }),
  },
  llm: {
    kind: 'llm',
    title: 'Language model',
    description: 'A provider of language models',
    config_schema: form(
      {
        provider: { enum: [...llmProviders], title: 'Provider' },
        base_url: address('Base address, with /v1'),
        default_model: text('Model', { maxLength: 128 }),
      },
      ['provider'],
    ),
    secret_schema: form({ api_key: secret('Key') }),
  },
  service: {
    kind: 'service',
    title: 'Service',
    description: 'A service that needs several values; `GET /api/credential-kinds` lists them',
    config_schema: form({ service: text('Service', { maxLength: 60 }) }),
    secret_schema: { type: 'object', additionalProperties: secret('Value'), minProperties: 1, maxProperties: 10 },
  },
  piece: {
    kind: 'piece',
    title: 'Piece',
    description:
      'For an imported piece, whose `auth` lists the values. Its code receives placeholders, not the secrets',
    config_schema: form(
      {
        service: text('Service', { maxLength: 80, pattern: '^piece\\.[a-z0-9_]+$' }),
        auth: { enum: ['SECRET_TEXT', 'BASIC_AUTH', 'CUSTOM_AUTH'], title: 'The name of the value in the piece' },
        values: parameters('Values that are not secret'),
      },
      ['service', 'auth'],
    ),
    secret_schema: { type: 'object', additionalProperties: password('Value'), minProperties: 1, maxProperties: 20 },
  },
}

/** Returns the address of a credential's language model. */
export const addressOfModel = (config: JsonObject): string | null =>
  typeof config.base_url === 'string' ? config.base_url : (llmAddress[config.provider as LlmProvider] ?? null)

/**
 * Returns the settings besides the hosts that determine where the secret is sent. They are sealed with the secret, so
 * that a change of one requires the secret again.
 */
export const sealedSettings = (config: JsonObject): (string | null)[] =>
  ['token_url', 'authorize_url', 'base_url', 'service'].map((name) => {
    const value = config[name]
    return typeof value === 'string' ? value : null
  })

export const isOAuth = (kind: CredentialKind): kind is 'oauth2_client' | 'oauth2_code' =>
  kind === 'oauth2_client' || kind === 'oauth2_code'
