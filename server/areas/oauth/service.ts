import { orgBaseUrl } from '#areas/identity/links'
import { listWorkflowTools } from '#areas/mcp/tools-of'
import { recordAudit } from '#platform/audit'
import { MINUTE, systemClock } from '#platform/clock'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { fromWire, hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { isRegistered, redirectWith, shownRedirect } from './redirects.ts'
import { type Asked, type Decision, type OAuthGrant, SCOPE } from './schema.ts'
import * as store from './store.ts'

// A person allows a program to call /mcp on their behalf, in one workspace. Through /mcp the program may run what the
// person may run; it has no other access.

const CODE_FOR = 5 * MINUTE
const MAX_GRANTS = 100
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

const resourceOf = (base: string): string => `${base}/mcp`

export async function describeResource(ctx: Context) {
  const base = await orgBaseUrl(ctx, ctx.tx)
  return {
    resource: resourceOf(base),
    resource_name: 'Heddle',
    authorization_servers: [base],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
  }
}

export async function describeServer(ctx: Context) {
  const issuer = await orgBaseUrl(ctx, ctx.tx)
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: [SCOPE],
    authorization_response_iss_parameter_supported: true,
  }
}

/**
 * Checks an authorization request. An unknown program, an unregistered address, or another mistake in the request is
 * shown to the person, since nothing may be sent to an address that is not trusted.
 */
async function check(ctx: Context, asked: Asked): Promise<{ client: store.Client; base: string }> {
  const clientId = fromWire('oac', asked.client_id)
  const client = clientId === undefined ? undefined : await store.findClient(ctx.tx, clientId)
  if (!client) throw invalid([{ path: '/client_id', message: 'is not a program that has registered here' }])
  const base = await orgBaseUrl(ctx, ctx.tx)
  const wrong: [path: string, message: string, isWrong: boolean][] = [
    [
      '/redirect_uri',
      'is not one that the program registered',
      !isRegistered(client.redirect_uris, asked.redirect_uri),
    ],
    ['/response_type', 'must be code', asked.response_type !== 'code'],
    ['/code_challenge_method', 'must be S256', asked.code_challenge_method !== 'S256'],
    ['/code_challenge', 'must be a SHA-256 in base64url', !CHALLENGE.test(asked.code_challenge)],
    ['/resource', `must be ${resourceOf(base)}`, (asked.resource ?? resourceOf(base)) !== resourceOf(base)],
  ]
  const errors = wrong.filter(([, , isWrong]) => isWrong).map(([path, message]) => ({ path, message }))
  if (errors.length > 0) throw invalid(errors)
  return { client, base }
}

export async function getAuthorizationRequest(ctx: Context, asked: Asked) {
  const { workspace_id } = ctx.workspace
  const { client } = await check(ctx, asked)
  return {
    client_id: asked.client_id,
    client_name: client.name,
    redirect_to: shownRedirect(asked.redirect_uri),
    workspace_id,
    workflows: await listWorkflowTools(ctx),
    already_allowed: await store.hasGrant(ctx.tx, workspace_id, ctx.person.user_id, client.client_id),
  }
}

/** Accepts only a browser session: a person allows what they have seen, and an API key cannot pass on access. */
export async function decideAuthorization(ctx: Context, { decision, ...asked }: Decision) {
  const { workspace_id } = ctx.workspace
  const { client, base } = await check(ctx, asked)
  if (ctx.credential.kind !== 'session') throw problem('conflict', 'Sign in with a browser to allow a program.')
  const back = { state: asked.state, iss: base }
  if (decision === 'deny')
    return { redirect_url: redirectWith(asked.redirect_uri, { error: 'access_denied', ...back }) }
  if ((await store.countGrants(ctx.tx, workspace_id, ctx.person.user_id)) >= MAX_GRANTS)
    throw problem('conflict', `You have already allowed ${MAX_GRANTS} programs. Remove one first.`)
  const [grantId, code] = [newId(), newSecret('hc')]
  const grant = { grantId, clientId: client.client_id, userId: ctx.person.user_id, resource: resourceOf(base) }
  await store.insertGrant(ctx.tx, workspace_id, grant)
  await store.insertToken(ctx.tx, workspace_id, {
    tokenHash: hashSecret(code),
    grantId,
    kind: 'code',
    codeChallenge: asked.code_challenge,
    redirectUri: asked.redirect_uri,
    expiresAt: new Date(systemClock.now().getTime() + CODE_FOR),
  })
  await recordAudit(ctx, ctx.tx, {
    action: 'oauth_grant.created',
    subject: toWire('ogr', grantId),
    data: { client_name: client.name, redirect_to: shownRedirect(asked.redirect_uri) },
  })
  return { redirect_url: redirectWith(asked.redirect_uri, { code, ...back }) }
}

type ById = { grant_id: string }

export const listOAuthGrants = (ctx: Context, asked: ListInput) =>
  store.listGrants(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)

export async function getOAuthGrant(ctx: Context, { grant_id }: ById): Promise<OAuthGrant> {
  const found = await store.findGrant(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, grant_id)
  if (!found) throw problem('not_found')
  return found
}

export async function deleteOAuthGrant(ctx: Context, { grant_id }: ById): Promise<void> {
  const { client_name } = await getOAuthGrant(ctx, { grant_id })
  await store.deleteGrant(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, grant_id)
  await recordAudit(ctx, ctx.tx, {
    action: 'oauth_grant.deleted',
    subject: toWire('ogr', grant_id),
    data: { client_name },
  })
}
