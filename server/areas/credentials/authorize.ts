import { createHash, randomBytes } from 'node:crypto'
import { orgBaseUrl } from '#areas/identity/links'
import { recordAudit } from '#platform/audit'
import { isProblem, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret, toWire } from '#platform/ids'
import { OutgoingFailure } from '#platform/outgoing/failure'
import { openSecrets, sealSecrets } from './box.ts'
import type { ById } from './service.ts'
import * as store from './store.ts'
import { GrantRefused, requestTokens } from './token-endpoint.ts'
import * as tokenStore from './token-store.ts'
import type { ResolveParts } from './use.ts'

// The consent of a person to an OAuth2 credential, with PKCE. The state is random, usable once, and bound to the
// session that started the consent. So no user can make another person connect an account, or finish a consent that
// another person started.

const placeOf = (workspaceId: string, credentialId: string) =>
  [workspaceId, 'credential_authorizations', credentialId, 'verifier'] as const

/** Returns the address to which the browser is sent. */
export async function authorizeCredential(parts: ResolveParts, ctx: Context, { credential_id }: ById) {
  const { workspace_id } = ctx.workspace
  const row = await store.lockUsable(ctx.tx, workspace_id, credential_id)
  if (!row) throw problem('not_found')
  if (row.kind !== 'oauth2_code')
    throw problem('conflict', 'Only credentials of kind oauth2_code can be connected in this way.')
  if (row.state === 'revoked')
    throw problem('conflict', 'The credential was revoked. Store its client secret again first.')
  if (ctx.credential.kind !== 'session') throw problem('conflict', 'Sign in with a browser to connect a credential.')
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const redirect_uri = `${await orgBaseUrl(ctx, ctx.tx)}/oauth/callback`
  await tokenStore.insertAttempt(ctx.tx, workspace_id, {
    state_hash: hashSecret(state),
    credential_id,
    session_id: ctx.credential.id,
    user_id: ctx.person.user_id,
    verifier: parts.vault.seal(placeOf(workspace_id, credential_id), verifier),
    redirect_uri,
  })
  return { url: authorizationUrl(row, { state, verifier, redirect_uri }) }
}

function authorizationUrl(
  { config }: store.Usable,
  { state, verifier, redirect_uri }: { state: string; verifier: string; redirect_uri: string },
): string {
  const url = new URL(String(config.authorize_url))
  const scopes = Array.isArray(config.scopes) ? config.scopes.join(' ') : ''
  const parameters = {
    ...(config.authorize_parameters as Record<string, string> | undefined),
    response_type: 'code',
    client_id: String(config.client_id),
    redirect_uri,
    ...(scopes !== '' && { scope: scopes }),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

type Returned = { state?: string | undefined; code?: string | undefined; error?: string | undefined }

/** Redirects a browser to the console in either case. A program gets the error itself. */
export async function finishAuthorization(
  parts: ResolveParts,
  ctx: Context,
  input: Returned,
  { request, reply }: Exchange,
): Promise<void> {
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
  try {
    const credentialId = await connectReturned(parts, ctx, input)
    reply.redirect(`/credentials/${toWire('cred', credentialId)}?connected=1`, 302)
  } catch (error) {
    if (!isProblem(error) || !request.headers.accept?.includes('text/html')) throw error
    reply.redirect(`/credentials?failed=${encodeURIComponent(error.message.slice(0, 300))}`, 302)
  }
}

const beginAgain = () =>
  problem(
    'conflict',
    'This connection was started in another browser, was already used, or took too long. Start again.',
  )

async function connectReturned(parts: ResolveParts, ctx: Context, input: Returned): Promise<string> {
  const { credential } = ctx
  if (credential.kind !== 'session') throw problem('unauthenticated', 'Sign in, then connect the credential again.')
  const stateHash = hashSecret(input.state ?? '')
  const attempt = await ctx.db.tenant(scopeOf(ctx), (tx) => tokenStore.takeAttempt(tx, stateHash, credential.id))
  if (!attempt || attempt.user_id !== ctx.person.user_id) throw beginAgain()
  const { workspace_id, credential_id } = attempt
  const scope = { workspaceId: workspace_id, userId: ctx.person.user_id }
  const row = await ctx.db.tenant(scope, (tx) => store.findUsable(tx, workspace_id, credential_id, ctx.person.user_id))
  if (!row || (row.role !== 'owner' && row.role !== 'edit') || row.secrets === null) throw beginAgain()
  if (input.error !== undefined || input.code === undefined)
    throw problem('conflict', `The service did not agree (${(input.error ?? 'no code').slice(0, 100)}).`)
  const verifier = parts.vault.open(placeOf(workspace_id, credential_id), attempt.verifier)
  const { secrets, lifetimeS } = await redeem(parts, row, input.code, verifier, attempt.redirect_uri)
  const tokens = sealSecrets(parts.vault, row, secrets, 'tokens')
  await ctx.db.tenant(scope, async (tx) => {
    // The secrets may have been replaced in the meantime. Tokens of the old client would not open, so they are not
    // stored.
    const present = await store.lockUsable(tx, workspace_id, credential_id)
    if (present?.token_version !== row.token_version) throw beginAgain()
    await tokenStore.connect(tx, workspace_id, credential_id, { tokens, lifetimeS })
    await parts.jobs.resumeJobsNaming(tx, workspace_id)
    await recordAudit(ctx, tx, {
      action: 'credential.connected',
      subject: toWire('cred', credential_id),
      workspaceId: workspace_id,
    })
  })
  return credential_id
}

async function redeem(
  { vault, outgoing }: ResolveParts,
  row: store.Usable,
  code: string,
  verifier: string,
  redirectUri: string,
) {
  const clientSecret = openSecrets(vault, row, row.secrets!).client_secret ?? ''
  try {
    return await requestTokens(
      outgoing,
      { name: row.name, config: row.config, clientSecret },
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
    )
  } catch (error) {
    if (error instanceof GrantRefused || error instanceof OutgoingFailure)
      throw problem(
        'conflict',
        `The service sent no token: ${error.message}. Check the client id and secret, then start again.`,
      )
    throw error
  }
}
