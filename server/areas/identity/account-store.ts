import type { Tx } from '#platform/db/pool'

// Tokens that are mailed to verify an address: pending sign-ups, and links for accounts. Only their hashes are stored.

export type PendingSignUp = {
  org_id: string
  email: string
  name: string
  password_hash: string
  workspace_name: string | null
}

export const insertSignUp = (
  tx: Tx,
  row: PendingSignUp & { token_hash: Buffer; lifetime_s: number },
): Promise<number> =>
  tx.count(
    `insert into pending_sign_ups (token_hash, org_id, email, name, password_hash, workspace_name, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    [row.token_hash, row.org_id, row.email, row.name, row.password_hash, row.workspace_name, row.lifetime_s],
  )

export const pruneSignUps = (tx: Tx): Promise<unknown> => tx.rows('select prune_sign_ups()')

export const findSignUp = (tx: Tx, tokenHash: Buffer): Promise<PendingSignUp | undefined> =>
  tx.maybe<PendingSignUp>('select * from find_sign_up($1)', [tokenHash])

export const useSignUp = async (tx: Tx, tokenHash: Buffer): Promise<boolean> =>
  (await tx.row<{ used: boolean }>('select use_sign_up($1) as used', [tokenHash])).used

export type TokenKind = 'verify_email' | 'reset_password'
export type TokenHolder = { user_id: string; org_id: string; email: string; name: string; is_verified: boolean }

export const insertAccountToken = (
  tx: Tx,
  row: { token_hash: Buffer; user_id: string; kind: TokenKind; lifetime_s: number },
): Promise<number> =>
  tx.count(
    `insert into account_tokens (token_hash, user_id, kind, expires_at)
     values ($1, $2, $3, now() + make_interval(secs => $4))`,
    [row.token_hash, row.user_id, row.kind, row.lifetime_s],
  )

export const findAccountToken = (tx: Tx, tokenHash: Buffer, kind: TokenKind): Promise<TokenHolder | undefined> =>
  tx.maybe<TokenHolder>('select * from find_account_token($1, $2)', [tokenHash, kind])

/** Runs in the scope of the token's person. If several requests use the same token at once, only one finds the row. */
export const spendAccountToken = (tx: Tx, tokenHash: Buffer, kind: TokenKind): Promise<number> =>
  tx.count('delete from account_tokens where token_hash = $1 and kind = $2 and expires_at > now()', [tokenHash, kind])

export const deleteAccountTokens = (tx: Tx, userId: string, kind: TokenKind): Promise<number> =>
  tx.count('delete from account_tokens where user_id = $1 and kind = $2', [userId, kind])

export const setVerified = (tx: Tx, userId: string): Promise<number> =>
  tx.count('update users set email_verified_at = now() where user_id = $1 and email_verified_at is null', [userId])

export const isVerified = async (tx: Tx, userId: string): Promise<boolean> =>
  (
    await tx.row<{ verified: boolean }>(
      'select email_verified_at is not null as verified from users where user_id = $1',
      [userId],
    )
  ).verified

export const deleteKeysOf = (tx: Tx, userId: string): Promise<number> =>
  tx.count('delete from api_keys where user_id = $1', [userId])

export const deleteIdentitiesOf = (tx: Tx, userId: string): Promise<number> =>
  tx.count('delete from oidc_identities where user_id = $1', [userId])
