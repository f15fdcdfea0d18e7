import type { JsonObject } from '#model/definition'
import { toStorableText } from '#model/storable'
import { SECOND } from '#platform/clock'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Mask } from '#platform/outgoing/mask'
import { makeMask } from '#platform/outgoing/mask'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Secrets } from './box.ts'

// One request to a token endpoint (RFC 6749). A tenant sets its address, so it goes through the guarded client. All
// secrets are added when the request is sent, so that a redirect to another host carries none of them.

const ANSWER_WITHIN = 20 * SECOND
/** The lifetime in seconds if the service does not state one. */
const DEFAULT_LIFETIME_S = 3_600
const MAX_LIFETIME_S = 10 * 365 * 86_400

export type Tokens = { secrets: Secrets; lifetimeS: number }

/** The service refuses permanently. A retry without a person would not help. */
export class GrantRefused extends Error {}

const FINAL: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
  'access_denied',
  // Codes of GitHub, HubSpot and Slack, which do not follow RFC 6749.
  'bad_refresh_token',
  'incorrect_client_credentials',
  'invalid_refresh_token',
  'invalid_client_id',
  'bad_client_secret',
  'token_expired',
  'token_revoked',
  'account_inactive',
])

/** The response contains the new token, so it is not masked. */
const noMask: Mask = {
  text: (text) => text,
  bytes: (bytes) => bytes,
  chunks: async function* (source) {
    yield* source
  },
}

export async function requestTokens(
  outgoing: Pick<Outgoing, 'request'>,
  { name, config, clientSecret }: { name: string; config: JsonObject; clientSecret: string },
  grant: Record<string, string>,
): Promise<Tokens> {
  const url = String(config.token_url)
  const inBody = config.client_auth === 'body'
  const clientId = String(config.client_id)
  const form = new URLSearchParams({
    ...(config.token_parameters as Record<string, string> | undefined),
    ...grant,
    ...(inBody && { client_id: clientId, client_secret: clientSecret }),
  })
  const credential: OutgoingCredential = {
    name,
    allows: (target) => target.host === new URL(url).host,
    mask: noMask,
    apply: (hop) => ({
      ...hop,
      headers: {
        ...hop.headers,
        'content-type': 'application/x-www-form-urlencoded',
        ...(!inBody && { authorization: `Basic ${basicOf(clientId, clientSecret)}` }),
      },
      body: form.toString(),
    }),
  }
  const masked = makeMask([clientSecret, ...Object.values(grant)])
  const answer = await outgoing.request({
    method: 'POST',
    url,
    headers: { accept: 'application/json' },
    credential,
    timeoutMs: ANSWER_WITHIN,
    maxBytes: 256 * 1024,
  })
  const body = parse(answer.body.toString('utf8'))
  if (typeof body.access_token === 'string' && body.access_token !== '' && answer.status < 400)
    return { secrets: secretsOf(body), lifetimeS: lifetimeOf(body.expires_in) }
  const code = [body.error, body.status].find((part) => typeof part === 'string')
  const text = [body.error_description, body.message].find((part) => typeof part === 'string')
  const said = [code, text].filter((part) => part !== undefined).join(': ')
  const words = toStorableText(masked.text(said === '' ? `status ${answer.status}` : said), 300)
  if (code !== undefined && FINAL.has(code.toLowerCase())) throw new GrantRefused(words)
  throw new OutgoingFailure('credential_refresh_failed', `the token address of "${name}" gave no token (${words})`)
}

/** RFC 6749 2.3.1: both values are form-encoded first. */
const basicOf = (id: string, secret: string): string => {
  const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
  return Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64')
}

function secretsOf({ access_token, refresh_token }: Record<string, unknown>): Secrets {
  return {
    access_token: String(access_token),
    ...(typeof refresh_token === 'string' && refresh_token !== '' && { refresh_token }),
  }
}

const lifetimeOf = (told: unknown): number => {
  const seconds = Number(told)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MAX_LIFETIME_S) : DEFAULT_LIFETIME_S
}

/** Parses JSON or a form. Some services always answer with a form. */
function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}
