import { createHash } from 'node:crypto'
import { fromWire, hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'

const CALLBACK = 'http://127.0.0.1:8123/callback'
const VERIFIER = 'x'.repeat(43)
const challenge = createHash('sha256').update(VERIFIER).digest('base64url')
const asForm = { 'content-type': 'application/x-www-form-urlencoded' }

async function registered({ service }: Cast): Promise<string> {
  const { body } = await service.call('POST', '/oauth/register', { body: { redirect_uris: [CALLBACK] } })
  return body.client_id
}

async function asked(cast: Cast) {
  const client_id = await registered(cast)
  return {
    client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
}

/** Prepares a grant as if the author had allowed it in a browser. */
async function granted(cast: Cast) {
  const client_id = await registered(cast)
  const [grantId, code] = [newId(), newSecret('hc')]
  await cast.service.sql(
    `insert into oauth_grants (workspace_id, grant_id, client_id, user_id, resource) values ($1, $2, $3, $4, $5)`,
    [cast.workspace.uuid, grantId, fromWire('oac', client_id), cast.author.uuid, `${cast.service.base}/mcp`],
  )
  await cast.service.sql(
    `insert into oauth_tokens (workspace_id, token_hash, grant_id, kind, code_challenge, redirect_uri, expires_at)
     values ($1, $2, $3, 'code', $4, $5, now() + interval '1 minute')`,
    [cast.workspace.uuid, hashSecret(code), grantId, challenge, CALLBACK],
  )
  return { client_id, code, grant_id: toWire('ogr', grantId) }
}

const grant = async (cast: Cast): Promise<Prepared> => ({ params: { grant_id: (await granted(cast)).grant_id } })

const withGrant = async (cast: Cast): Promise<Prepared> => {
  await granted(cast)
  return {}
}

/** A person's own programs; viewers can have programs too. */
const own = withChanges(rows.ownOnly, { guest: 403 })

export const oauthCases: Cases = {
  describeMcpResource: { expect: rows.anyone },
  describeAuthorizationServer: { expect: rows.anyone },
  registerOAuthClient: { expect: rows.anyone, prepare: async () => ({ body: { redirect_uris: [CALLBACK] } }) },
  exchangeOAuthToken: {
    expect: rows.anyone,
    prepare: async (cast) => {
      const { client_id, code } = await granted(cast)
      const fields = {
        grant_type: 'authorization_code',
        client_id,
        code,
        redirect_uri: CALLBACK,
        code_verifier: VERIFIER,
      }
      return { raw: Buffer.from(new URLSearchParams(fields).toString()), headers: asForm }
    },
  },
  revokeOAuthToken: {
    expect: rows.anyone,
    prepare: async (cast) => {
      const { client_id, code } = await granted(cast)
      return { raw: Buffer.from(new URLSearchParams({ client_id, token: code }).toString()), headers: asForm }
    },
  },
  getAuthorizationRequest: {
    expect: rows.selectedRead,
    prepare: async (cast) => ({ query: `?${new URLSearchParams(await asked(cast))}` }),
  },
  // Can be allowed only in a browser; the callers here have keys.
  decideAuthorization: {
    expect: withChanges(rows.selectedRead, {
      author: 409,
      workspaceOwner: 409,
      member: 409,
      viewer: 409,
      resourceMember: 409,
      resourceViewer: 409,
      stranger: 409,
      operator: 409,
    }),
    prepare: async (cast) => ({ body: { ...(await asked(cast)), decision: 'allow' } }),
  },
  listOAuthGrants: { expect: rows.selectedRead, prepare: withGrant },
  getOAuthGrant: { expect: own, prepare: grant },
  deleteOAuthGrant: { expect: own, prepare: grant },
}
