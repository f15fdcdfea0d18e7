import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { grantList, type OAuthGrant } from './schema.ts'

export type Client = { client_id: string; name: string; redirect_uris: string[] }

/** Stores a program. If `most` programs are unused, the oldest of them are deleted. */
export const insertClient = (tx: Tx, client: Client, most: number): Promise<unknown> =>
  tx.row('select register_oauth_client($1, $2, $3, $4)', [client.client_id, client.name, client.redirect_uris, most])

export const findClient = (tx: Tx, clientId: string): Promise<Client | undefined> =>
  tx.maybe<Client>('select * from find_oauth_client($1)', [clientId])

const columns = `g.grant_id, (select c.name from find_oauth_client(g.client_id) c) as client_name, g.created_at, g.last_used_at`

export const listGrants = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<OAuthGrant>(tx, grantList, asked, {
    sql: `select ${columns} from oauth_grants g where g.workspace_id = $1 and g.user_id = $2`,
    values: [workspaceId, userId],
  })

export const findGrant = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  grantId: string,
): Promise<OAuthGrant | undefined> =>
  tx.maybe<OAuthGrant>(
    `select ${columns} from oauth_grants g where g.workspace_id = $1 and g.user_id = $2 and g.grant_id = $3`,
    [workspaceId, userId, grantId],
  )

export const hasGrant = async (tx: Tx, workspaceId: string, userId: string, clientId: string): Promise<boolean> =>
  (await tx.maybe(
    'select from oauth_grants where workspace_id = $1 and user_id = $2 and client_id = $3 and last_used_at is not null limit 1',
    [workspaceId, userId, clientId],
  )) !== undefined

/** Counts the grants of a person. A lock serializes the counts of one person until the transaction ends. */
export async function countGrants(tx: Tx, workspaceId: string, userId: string): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('oauth_grants ' || $1 || ' ' || $2, 0))`, [
    workspaceId,
    userId,
  ])
  return (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from oauth_grants where workspace_id = $1 and user_id = $2',
      [workspaceId, userId],
    )
  ).count
}

export const insertGrant = (
  tx: Tx,
  workspaceId: string,
  grant: { grantId: string; clientId: string; userId: string; resource: string },
): Promise<number> =>
  tx.count(
    'insert into oauth_grants (workspace_id, grant_id, client_id, user_id, resource) values ($1, $2, $3, $4, $5)',
    [workspaceId, grant.grantId, grant.clientId, grant.userId, grant.resource],
  )

export const deleteGrant = (tx: Tx, workspaceId: string, userId: string, grantId: string): Promise<number> =>
  tx.count('delete from oauth_grants where workspace_id = $1 and user_id = $2 and grant_id = $3', [
    workspaceId,
    userId,
    grantId,
  ])

export const insertToken = (
  tx: Tx,
  workspaceId: string,
  token: {
    tokenHash: Buffer
    grantId: string
    kind: 'code' | 'refresh'
    codeChallenge: string | null
    redirectUri: string | null
    expiresAt: Date
  },
): Promise<number> =>
  tx.count(
    `insert into oauth_tokens (workspace_id, token_hash, grant_id, kind, code_challenge, redirect_uri, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [workspaceId, token.tokenHash, token.grantId, token.kind, token.codeChallenge, token.redirectUri, token.expiresAt],
  )

export type Used = {
  workspace_id: string
  grant_id: string
  client_id: string
  user_id: string
  resource: string
  code_challenge: string | null
  redirect_uri: string | null
}

export const useToken = (tx: Tx, tokenHash: Buffer, kind: 'code' | 'refresh'): Promise<Used | undefined> =>
  tx.maybe<Used>('select * from use_oauth_token($1, $2)', [tokenHash, kind])

export const revokeToken = (tx: Tx, tokenHash: Buffer, clientId: string): Promise<unknown> =>
  tx.rows('select revoke_oauth_token($1, $2)', [tokenHash, clientId])

/**
 * Stores an access token: a key of the person, for one workspace and one scope. Deletes the expired keys of the grant.
 */
export async function insertAccessToken(
  tx: Tx,
  { workspace_id, grant_id, user_id }: Used,
  key: { keyId: string; name: string; prefix: string; tokenHash: Buffer; scopes: string[]; expiresAt: Date },
): Promise<void> {
  await tx.count('delete from api_keys where user_id = $1 and grant_id = $2 and expires_at <= now()', [
    user_id,
    grant_id,
  ])
  await tx.count(
    `insert into api_keys (key_id, user_id, workspace_id, name, prefix, token_hash, scopes, expires_at, grant_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [key.keyId, user_id, workspace_id, key.name, key.prefix, key.tokenHash, key.scopes, key.expiresAt, grant_id],
  )
  await tx.count('update oauth_grants set last_used_at = now() where workspace_id = $1 and grant_id = $2', [
    workspace_id,
    grant_id,
  ])
}
