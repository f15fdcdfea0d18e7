import { createHmac, randomBytes } from 'node:crypto'
import type * as Oidc from 'openid-client'
import { SECOND } from '#platform/clock'
import type { OidcProvider } from '#platform/config'
import { problem } from '#platform/errors'
import { email as emailIn } from '#platform/http/schema'
import type { Logger } from '#platform/log'
import { makeBoundedFetch } from '#platform/outgoing/bounded'

// The requests to a provider. Its address is in the settings and may be private. The library checks certificates,
// signatures, issuer, audience, nonce and expiry.

/** Loaded when the first person signs in with a provider. */
const library = () => import('openid-client')

const ANSWER_WITHIN_S = 10
const MAX_ANSWER = 1024 * 1024

/** The library's timeout covers only the headers. This limits the body. */
const boundedFetch = makeBoundedFetch({ maxBytes: MAX_ANSWER, timeoutMs: ANSWER_WITHIN_S * SECOND })

export type Profile = { issuer: string; subject: string; email: string | null; emailVerified: boolean; name: string }

/** Binds an attempt to one browser. The state is public; the secret is only in the browser's cookie. */
export type Attempt = { state: string; secret: string }

export const newAttempt = (): Attempt => ({
  state: randomBytes(32).toString('base64url'),
  secret: randomBytes(32).toString('base64url'),
})

export function makeOidcClient(options: { providers: readonly OidcProvider[]; key: Buffer; log: Logger }) {
  const { providers, key, log } = options
  const known = new Map<string, Promise<Oidc.Configuration>>()

  /** Derives a value from the attempt, so that it need not be stored while the person is at the provider. */
  const derive = (purpose: 'verifier' | 'nonce', { state, secret }: Attempt): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, state, secret]))
      .digest('base64url')

  const discover = (provider: OidcProvider): Promise<Oidc.Configuration> => {
    let found = known.get(provider.id)
    if (!found) {
      const issuer = new URL(provider.issuer)
      found = library().then((oidc) =>
        oidc.discovery(issuer, provider.client_id, provider.client_secret, undefined, {
          timeout: ANSWER_WITHIN_S,
          [oidc.customFetch]: boundedFetch as Oidc.CustomFetch,
          execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
        }),
      )
      known.set(provider.id, found)
      // A failed discovery is repeated at the next attempt.
      found.catch(() => known.delete(provider.id))
    }
    return found.catch((error: unknown) => {
      log.warn({ err: error, provider: provider.id }, 'an OpenID provider does not answer')
      throw problem('provider_unavailable', `${provider.title} does not answer. Try again in a moment.`, {
        cause: error,
      })
    })
  }

  return {
    find: (id: string): OidcProvider | undefined => providers.find((provider) => provider.id === id),

    async authorizationUrl(provider: OidcProvider, redirectUri: string, attempt: Attempt): Promise<string> {
      const client = await discover(provider)
      const oidc = await library()
      return oidc.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        response_type: 'code',
        code_challenge: await oidc.calculatePKCECodeChallenge(derive('verifier', attempt)),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: derive('nonce', attempt),
      }).href
    },

    /** Redeems the code of a callback. Every failure gives the same refusal; the log contains the reason. */
    async redeem(provider: OidcProvider, callback: URL, attempt: Attempt): Promise<Profile> {
      const client = await discover(provider)
      try {
        const oidc = await library()
        const tokens = await oidc.authorizationCodeGrant(client, callback, {
          pkceCodeVerifier: derive('verifier', attempt),
          expectedState: attempt.state,
          expectedNonce: derive('nonce', attempt),
          idTokenExpected: true,
        })
        const claims = tokens.claims()!
        const more =
          claims.email === undefined && client.serverMetadata().userinfo_endpoint !== undefined
            ? await oidc.fetchUserInfo(client, tokens.access_token, claims.sub)
            : {}
        return profileOf({ ...more, ...claims })
      } catch (error) {
        log.info({ err: error, provider: provider.id }, 'a sign-in with an OpenID provider failed')
        throw problem('sign_in_failed', `${provider.title} did not confirm who you are. Start again.`, { cause: error })
      }
    },
  }
}

export type OidcClient = ReturnType<typeof makeOidcClient>

function profileOf(claims: Record<string, unknown> & { iss: string; sub: string }): Profile {
  const email = emailIn().safeParse(claims.email)
  const names = [claims.name, claims.preferred_username, email.data?.split('@')[0], 'Somebody']
  const name = names.find((value) => typeof value === 'string' && value.trim() !== '') as string
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: email.success ? email.data : null,
    emailVerified: claims.email_verified === true,
    name: name.trim().slice(0, 200),
  }
}
