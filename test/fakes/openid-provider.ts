import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A real OpenID provider on a free port, in which the test chooses who signs in. */
export type OpenIdProvider = {
  issuer: string
  /** Sets the account for all later sign-ins. */
  become(account: Account): void
  stop(): Promise<void>
}
export type Account = { sub: string; email?: string; email_verified?: boolean; name?: string }

type Present = { client: { clientId: string }; session: { accountId: string } }

export const client = { client_id: 'heddle', client_secret: 'a secret between the two' }

export async function startOpenIdProvider(redirectUris: string[]): Promise<OpenIdProvider> {
  const accounts = new Map<string, Account>()
  let present: Account | undefined
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      { ...client, redirect_uris: redirectUris, response_types: ['code'], grant_types: ['authorization_code'] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: () => '/who' },
    findAccount: (_ctx: unknown, sub: string) => ({ accountId: sub, claims: async () => accounts.get(sub)! }),
    // The user consents to every request.
    loadExistingGrant: async (ctx: { oidc: Present }) => {
      const grant = new provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  server.on('request', (request, reply) => {
    if (!request.url!.startsWith('/who')) return handle(request, reply)
    provider.interactionFinished(request, reply, { login: { accountId: present!.sub, remember: false } })
  })
  return {
    issuer,
    become(account) {
      accounts.set(account.sub, account)
      present = account
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
