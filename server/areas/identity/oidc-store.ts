import type { Tx } from '#platform/db/pool'

export type NewAttempt = {
  state_hash: Buffer
  browser_hash: Buffer
  org_id: string
  provider: string
  link_user_id: string | null
  return_to: string
  lifetime_s: number
}

export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<void> {
  await tx.count('delete from oidc_attempts where expires_at < now()')
  await tx.count(
    `insert into oidc_attempts (state_hash, browser_hash, org_id, provider, link_user_id, return_to, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    [
      attempt.state_hash,
      attempt.browser_hash,
      attempt.org_id,
      attempt.provider,
      attempt.link_user_id,
      attempt.return_to,
      attempt.lifetime_s,
    ],
  )
}

/** Deletes the attempt in any case, so that it can be used only once. */
export const takeAttempt = (tx: Tx, attempt: Pick<NewAttempt, 'state_hash' | 'browser_hash' | 'org_id' | 'provider'>) =>
  tx.maybe<{ link_user_id: string | null; return_to: string }>(
    `with taken as (delete from oidc_attempts
       where state_hash = $1 and browser_hash = $2 and org_id = $3 and provider = $4 returning *)
     select link_user_id, return_to from taken where expires_at > now()`,
    [attempt.state_hash, attempt.browser_hash, attempt.org_id, attempt.provider],
  )

export const findByIdentity = (tx: Tx, orgId: string, issuer: string, subject: string) =>
  tx.maybe<{ user_id: string; email: string; name: string }>('select * from identify_oidc($1, $2, $3)', [
    orgId,
    issuer,
    subject,
  ])

export type Identity = { org_id: string; issuer: string; subject: string; user_id: string }

export const insertIdentity = (tx: Tx, identity: Identity): Promise<number> =>
  tx.count('insert into oidc_identities (org_id, issuer, subject, user_id) values ($1, $2, $3, $4)', [
    identity.org_id,
    identity.issuer,
    identity.subject,
    identity.user_id,
  ])

export const listIssuers = async (tx: Tx, userId: string): Promise<string[]> =>
  (await tx.rows<{ issuer: string }>('select distinct issuer from oidc_identities where user_id = $1', [userId])).map(
    ({ issuer }) => issuer,
  )

export const deleteIdentities = (tx: Tx, userId: string, issuer: string): Promise<number> =>
  tx.count('delete from oidc_identities where user_id = $1 and issuer = $2', [userId, issuer])
