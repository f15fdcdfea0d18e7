import type { JsonObject } from '#model/definition'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import { checkHeader, type Hop } from '#platform/outgoing/hops'
import { makeMask } from '#platform/outgoing/mask'
import { makePlaceholderCredential } from '#platform/wall/placeholders'
import type { Secrets } from './box.ts'
import { hostAllowed } from './hosts.ts'
import { type CredentialKind, isOAuth } from './kinds.ts'
import { findPreset } from './presets.ts'
import { signAws } from './sigv4.ts'

// Adds the secret of each kind to a request.

export type Opened = {
  credential_id?: string
  name: string
  kind: CredentialKind
  hosts: string[]
  config: JsonObject
  secrets: Secrets
  /** The tokens of an OAuth2 credential. */
  tokens?: Secrets | undefined
}

const withHeader = (hop: Hop, name: string, value: string): Hop => ({
  ...hop,
  headers: { ...hop.headers, [checkHeader(name, value)]: value },
})

const withQuery = (hop: Hop, name: string, value: string): Hop => {
  const url = new URL(hop.url)
  url.searchParams.set(name, value)
  return { ...hop, url }
}

/** The path segment that is replaced by the secret. */
export const SECRET_STEP = ':credential'

const withPath = (hop: Hop, value: string): Hop => {
  const url = new URL(hop.url)
  url.pathname = url.pathname
    .split('/')
    .map((step) => (step === SECRET_STEP ? encodeURIComponent(value).replaceAll('%3A', ':') : step))
    .join('/')
  return { ...hop, url }
}

const basic = (username: string, password: string): string => Buffer.from(`${username}:${password}`).toString('base64')

/** Replaces `{field}` by the secret of that name. */
const filled = (template: string, secrets: Secrets): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => secrets[name] ?? '')

function applyService(hop: Hop, { config, secrets }: Opened): Hop {
  const { apply } = findPreset(String(config.service)) ?? {}
  let applied = hop
  if (apply?.path !== undefined) applied = withPath(applied, filled(apply.path, secrets))
  for (const [name, template] of Object.entries(apply?.headers ?? {}))
    applied = withHeader(applied, name, filled(template, secrets))
  for (const [name, template] of Object.entries(apply?.query ?? {}))
    applied = withQuery(applied, name, filled(template, secrets))
  if (apply?.basic !== undefined) {
    const [username = '', password = ''] = apply.basic
    applied = withHeader(
      applied,
      'authorization',
      `Basic ${basic(filled(username, secrets), filled(password, secrets))}`,
    )
  }
  return applied
}

function applyTo(hop: Hop, opened: Opened): Hop {
  const { kind, config, secrets, tokens } = opened
  const of = (name: string): string => secrets[name] ?? ''
  switch (kind) {
    case 'bearer':
      return withHeader(hop, 'authorization', `Bearer ${of('token')}`)
    case 'oauth2_client':
    case 'oauth2_code':
      return withHeader(hop, 'authorization', `Bearer ${tokens?.access_token ?? ''}`)
    case 'header':
      return withHeader(hop, String(config.name), `${config.prefix ?? ''}${of('value')}`)
    case 'query':
      return withQuery(hop, String(config.name), of('value'))
    case 'basic':
      return withHeader(hop, 'authorization', `Basic ${basic(String(config.username), of('password'))}`)
    case 'aws_sigv4':
      return signAws(hop, {
        accessKeyId: String(config.access_key_id),
        secretAccessKey: of('secret_access_key'),
        sessionToken: secrets.session_token,
        region: String(config.region),
        service: String(config.service),
      })
    case 'tls_client':
      return hop
    case 'llm':
      return applyModelKey(hop, config, of('api_key'))
    case 'service':
      return applyService(hop, opened)
    case 'piece':
      throw new OutgoingFailure('credential_refused', `the credential "${opened.name}" is for actions of a piece`)
  }
}

/** Adds the key of a model in the header that its provider expects. */
function applyModelKey(hop: Hop, config: JsonObject, key: string): Hop {
  if (config.provider === 'anthropic') return withHeader(hop, 'x-api-key', key)
  if (config.provider === 'google') return withHeader(hop, 'x-goog-api-key', key)
  return withHeader(hop, 'authorization', `Bearer ${key}`)
}

/** Returns all values that must be masked in a response: the secrets, and values derived from them. */
function valuesOf({ kind, config, secrets, tokens }: Opened): string[] {
  const values = [...Object.values(secrets), ...Object.values(tokens ?? {})]
  if (kind === 'basic') values.push(basic(String(config.username), secrets.password ?? ''))
  if (kind === 'tls_client')
    values.push(...values.flatMap((value) => value.split('\n').filter((line) => line.length > 40)))
  return values
}

/**
 * Returns the values for which programs and pieces get placeholders. For OAuth2 this is only the access token,
 * without the secrets that renew it.
 */
const veiledValues = ({ kind, secrets, tokens }: Opened): Record<string, string> =>
  isOAuth(kind) ? { access_token: tokens?.access_token ?? '' } : { ...secrets }

export function makeOutgoingCredential(
  opened: Opened,
  renew?: () => Promise<OutgoingCredential | undefined>,
): OutgoingCredential {
  const { certificate, private_key } = opened.secrets
  const base = {
    name: opened.name,
    hosts: opened.hosts,
    allows: (url: URL) => hostAllowed(opened.hosts, url),
    mask: makeMask(valuesOf(opened)),
  }
  const newer =
    renew &&
    (async () => {
      const renewed = await renew()
      return renewed?.veiled && { secrets: renewed.veiled().reveal(), base: renewed }
    })
  return {
    ...base,
    apply: (hop) => applyTo(hop, opened),
    veiled: () => makePlaceholderCredential({ ...opened, secrets: veiledValues(opened) }, base, newer),
    ...(opened.kind === 'tls_client' && { clientCertificate: { cert: certificate ?? '', key: private_key ?? '' } }),
    ...(renew && { renew }),
  }
}
