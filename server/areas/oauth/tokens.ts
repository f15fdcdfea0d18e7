import { createHash, timingSafeEqual } from 'node:crypto'
import { enterScope } from '#platform/auth/scope'
import { DAY, HOUR, systemClock } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { fromWire, hashSecret, newId, newSecret, secretPrefix } from '#platform/ids'
import { refuse } from './refusal.ts'
import { SCOPE } from './schema.ts'
import * as store from './store.ts'

// Exchanges codes and refresh tokens for access tokens. Each is used once, in the transaction that creates its
// successor.

const ACCESS_FOR = HOUR
const REFRESH_FOR = 60 * DAY
const nobody = { workspaceId: null, userId: null }

type Fields = ReadonlyMap<string, string>

const need = (fields: Fields, name: string): string =>
  fields.get(name) ?? refuse('invalid_request', `${name} is required`)

const challengeOf = (verifier: string): Buffer => createHash('sha256').update(verifier).digest()

function fitsChallenge(challenge: string | null, verifier: string): boolean {
  const wanted = Buffer.from(challenge ?? '', 'base64url')
  const given = challengeOf(verifier)
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}

/** A failed exchange also uses up the code or token, so that a code stolen without its verifier is worthless. */
export async function exchangeToken(ctx: Context, fields: Fields): Promise<object> {
  const clientId = fromWire('oac', need(fields, 'client_id'))
  const grantType = need(fields, 'grant_type')
  const kind = grantType === 'authorization_code' ? 'code' : grantType === 'refresh_token' ? 'refresh' : undefined
  if (kind === undefined) return refuse('unsupported_grant_type', 'use authorization_code or refresh_token')
  const secret = need(fields, kind === 'code' ? 'code' : 'refresh_token')
  const verifier = kind === 'code' ? need(fields, 'code_verifier') : null
  const made = await ctx.db.tenant(nobody, async (tx) => {
    const used = await store.useToken(tx, hashSecret(secret), kind)
    if (!used || used.client_id !== clientId) return undefined
    if (verifier !== null && !fitsChallenge(used.code_challenge, verifier)) return undefined
    if (kind === 'code' && fields.get('redirect_uri') !== used.redirect_uri) return undefined
    if ((fields.get('resource') ?? used.resource) !== used.resource) return 'other resource'
    return makeTokens(tx, used)
  })
  if (made === 'other resource') return refuse('invalid_target', 'the token was asked for another resource')
  return made ?? refuse('invalid_grant', 'the code or refresh token is not valid, was used before, or has expired')
}

async function makeTokens(tx: Tx, used: store.Used): Promise<object> {
  const { workspace_id: workspaceId, user_id: userId, grant_id: grantId } = used
  await enterScope(tx, { workspaceId, userId })
  const client = await store.findClient(tx, used.client_id)
  const [access, refresh] = [newSecret('hk'), newSecret('hr')]
  const now = systemClock.now().getTime()
  await store.insertAccessToken(tx, used, {
    keyId: newId(),
    name: client?.name ?? '',
    prefix: secretPrefix(access),
    tokenHash: hashSecret(access),
    scopes: [SCOPE],
    expiresAt: new Date(now + ACCESS_FOR),
  })
  await store.insertToken(tx, workspaceId, {
    tokenHash: hashSecret(refresh),
    grantId,
    kind: 'refresh',
    codeChallenge: null,
    redirectUri: null,
    expiresAt: new Date(now + REFRESH_FOR),
  })
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_FOR / 1000,
    refresh_token: refresh,
    scope: SCOPE,
  }
}

/** Returns the same response for every token, so that a caller does not learn which tokens exist. */
export async function revokeToken(ctx: Context, fields: Fields): Promise<object> {
  const clientId = fromWire('oac', need(fields, 'client_id'))
  const token = need(fields, 'token')
  if (clientId !== undefined) await ctx.db.tenant(nobody, (tx) => store.revokeToken(tx, hashSecret(token), clientId))
  return {}
}
