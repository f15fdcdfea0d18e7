import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A real OAuth2 authorization server on a free port, in which the user consents to every request. */
export type AuthorizationServer = {
  issuer: string
  host: string
  /** The grant types of all requests to the token endpoint. */
  grants: string[]
  /** The lifetime of access tokens in seconds. */
  lifetime: number
  isValid(accessToken: string): Promise<boolean>
  /** Invalidates everything that was issued before. */
  forgetEverything(): void
  /** Called before the token endpoint answers. */
  beforeToken: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>
  stop(): Promise<void>
}

export const oauthClient = { client_id: 'heddle', client_secret: 'a secret/between + the two' }

/** A client that sends its secret in the form, not in a header. */
export const POST_CLIENT = 'heddle-post'

type Stored = { payload: Record<string, unknown>; until: number }

export async function startAuthorizationServer(redirectUri: string): Promise<AuthorizationServer> {
  const kept = new Map<string, Stored>()
  class Adapter {
    readonly #kind: string
    constructor(kind: string) {
      this.#kind = kind
    }
    #key = (id: string): string => `${this.#kind} ${id}`
    async upsert(id: string, payload: Record<string, unknown>, expiresIn: number) {
      kept.set(this.#key(id), { payload, until: Date.now() + (expiresIn ?? 3_600) * 1_000 })
    }
    async find(id: string) {
      return kept.get(this.#key(id))?.payload
    }
    async findByUid(uid: string) {
      return [...kept.values()].find(({ payload }) => payload.uid === uid)?.payload
    }
    async findByUserCode() {}
    async destroy(id: string) {
      kept.delete(this.#key(id))
    }
    async consume(id: string) {
      const stored = kept.get(this.#key(id))
      if (stored) stored.payload.consumed = Math.floor(Date.now() / 1_000)
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, { payload }] of kept) if (payload.grantId === grantId) kept.delete(key)
    }
  }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = `http://${host}`
  const provider = new Provider(issuer, {
    adapter: Adapter,
    clients: [
      {
        ...oauthClient,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
      {
        client_id: POST_CLIENT,
        client_secret: oauthClient.client_secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    scopes: ['orders'],
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    rotateRefreshToken: () => true,
    ttl: Object.fromEntries(['AccessToken', 'ClientCredentials'].map((kind) => [kind, () => fake.lifetime])),
    interactions: { url: () => '/who' },
    findAccount: (_ctx: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub }) }),
    loadExistingGrant: async (ctx: { oidc: { client: { clientId: string }; session: { accountId: string } } }) => {
      const grant = new provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId })
      grant.addOIDCScope('openid orders offline_access')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  provider.on('grant.success', (ctx: { oidc: { params: { grant_type: string } } }) => {
    fake.grants.push(ctx.oidc.params.grant_type)
  })
  server.on('request', async (request, response) => {
    if (request.url!.startsWith('/who'))
      return provider.interactionFinished(request, response, { login: { accountId: 'ann', remember: false } })
    if (request.url!.startsWith('/token') && !(await fake.beforeToken(request, response))) return
    return handle(request, response)
  })
  const fake: AuthorizationServer = {
    issuer,
    host,
    grants: [],
    lifetime: 3_600,
    isValid: async (token) =>
      [...kept].some(
        ([key, { payload, until }]) =>
          /^(AccessToken|ClientCredentials) /.test(key) && payload.jti === token && until > Date.now(),
      ),
    forgetEverything: () => kept.clear(),
    beforeToken: async () => true,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}
