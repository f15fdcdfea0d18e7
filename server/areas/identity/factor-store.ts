import type { Tx } from '#platform/db/pool'
import type { Passkey } from './schema.ts'

// The second factors of one person. Row security shows these rows to that person only.

export type Factors = { totp: boolean; passkeys: number; recovery_codes_left: number }

export const findFactors = (tx: Tx, userId: string): Promise<Factors> =>
  tx.row<Factors>(
    `select exists (select from totp_factors where user_id = $1 and confirmed_at is not null) as totp,
       (select count(*)::int from passkeys where user_id = $1) as passkeys,
       (select count(*)::int from recovery_codes where user_id = $1 and used_at is null) as recovery_codes_left`,
    [userId],
  )

export type Totp = { secret: Buffer; last_step: number; confirmed: boolean }

/** Locks the row until the transaction ends, so that a code that is sent twice at once is accepted once. */
export const holdTotp = (tx: Tx, userId: string): Promise<Totp | undefined> =>
  tx.maybe<Totp>(
    `select secret, last_step, confirmed_at is not null as confirmed from totp_factors where user_id = $1 for update`,
    [userId],
  )

/** Starts a new setup. A confirmed authenticator is not replaced. */
export const putTotp = (tx: Tx, userId: string, secret: Buffer): Promise<number> =>
  tx.count(
    `insert into totp_factors as present (user_id, secret) values ($1, $2)
     on conflict (user_id) do update set secret = excluded.secret, last_step = 0, created_at = now()
       where present.confirmed_at is null`,
    [userId, secret],
  )

export const noteTotpStep = (tx: Tx, userId: string, step: number): Promise<number> =>
  tx.count(
    `update totp_factors set last_step = $2, confirmed_at = coalesce(confirmed_at, now()) where user_id = $1 and last_step < $2`,
    [userId, step],
  )

export const deleteTotp = (tx: Tx, userId: string): Promise<number> =>
  tx.count('delete from totp_factors where user_id = $1', [userId])

const passkeyColumns = 'passkey_id, name, created_at, last_used_at'

export const listPasskeys = (tx: Tx, userId: string): Promise<Passkey[]> =>
  tx.rows<Passkey>(`select ${passkeyColumns} from passkeys where user_id = $1 order by passkey_id`, [userId])

export type StoredPasskey = { credential_id: string; public_key: Buffer; counter: number; transports: string[] }

export const listCredentials = (tx: Tx, userId: string): Promise<StoredPasskey[]> =>
  tx.rows<StoredPasskey>(
    'select credential_id, public_key, counter, transports from passkeys where user_id = $1 order by passkey_id',
    [userId],
  )

export const insertPasskey = (
  tx: Tx,
  row: StoredPasskey & { passkey_id: string; user_id: string; name: string },
): Promise<Passkey> =>
  tx.row<Passkey>(
    `insert into passkeys (passkey_id, user_id, credential_id, public_key, counter, transports, name)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${passkeyColumns}`,
    [row.passkey_id, row.user_id, row.credential_id, row.public_key, row.counter, row.transports, row.name],
  )

export const notePasskeyUse = (tx: Tx, userId: string, credentialId: string, counter: number): Promise<number> =>
  tx.count('update passkeys set counter = $3, last_used_at = now() where user_id = $1 and credential_id = $2', [
    userId,
    credentialId,
    counter,
  ])

export type FoundPasskey = StoredPasskey & { user_id: string; email: string; name: string }

export const findPasskey = (tx: Tx, orgId: string, credentialId: string): Promise<FoundPasskey | undefined> =>
  tx.maybe<FoundPasskey>('select * from find_passkey($1, $2)', [orgId, credentialId])

/** Returns 0 if the challenge was already used. */
export const spendChallenge = (tx: Tx, userId: string, challengeHash: Buffer): Promise<number> =>
  tx.count(
    `with gone as (delete from factor_challenges where user_id = $2 and expires_at < now())
     insert into factor_challenges (token_hash, user_id, kind, expires_at) values ($1, $2, 'spent', now() + interval '10 minutes')
     on conflict (token_hash) do nothing`,
    [challengeHash, userId],
  )

export const deletePasskey = (tx: Tx, userId: string, passkeyId: string): Promise<number> =>
  tx.count('delete from passkeys where user_id = $1 and passkey_id = $2', [userId, passkeyId])

export async function replaceRecoveryCodes(tx: Tx, userId: string, hashes: Buffer[]): Promise<void> {
  await tx.count('delete from recovery_codes where user_id = $1', [userId])
  await tx.count('insert into recovery_codes (user_id, code_hash) select $1, unnest($2::bytea[])', [userId, hashes])
}

export const spendRecoveryCode = (tx: Tx, userId: string, hash: Buffer): Promise<number> =>
  tx.count('update recovery_codes set used_at = now() where user_id = $1 and code_hash = $2 and used_at is null', [
    userId,
    hash,
  ])

export async function deleteAllFactors(tx: Tx, userId: string): Promise<void> {
  for (const table of ['totp_factors', 'passkeys', 'recovery_codes', 'factor_challenges'])
    await tx.count(`delete from ${table} where user_id = $1`, [userId])
}

export type Challenge = {
  user_id: string
  org_id: string
  email: string
  name: string
  passkey_challenge: string | null
  failures: number
  expires_at: Date
}

export const insertChallenge = (
  tx: Tx,
  row: {
    token_hash: Buffer
    user_id: string
    kind: 'sign_in' | 'add_passkey'
    passkey_challenge: string | null
    lifetime_s: number
  },
): Promise<{ expires_at: Date }> =>
  tx.row<{ expires_at: Date }>(
    `with gone as (delete from factor_challenges where user_id = $2 and expires_at < now())
     insert into factor_challenges (token_hash, user_id, kind, passkey_challenge, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning expires_at`,
    [row.token_hash, row.user_id, row.kind, row.passkey_challenge, row.lifetime_s],
  )

export const findChallenge = (tx: Tx, tokenHash: Buffer): Promise<Challenge | undefined> =>
  tx.maybe<Challenge>('select * from find_factor_challenge($1)', [tokenHash])

export const noteChallengeFailure = (tx: Tx, tokenHash: Buffer): Promise<number> =>
  tx.count('update factor_challenges set failures = failures + 1 where token_hash = $1', [tokenHash])

/** Deletes the challenge, so of several simultaneous requests only one finds it. */
export const takeChallenge = (
  tx: Tx,
  tokenHash: Buffer,
  kind: 'sign_in' | 'add_passkey',
): Promise<{ passkey_challenge: string | null } | undefined> =>
  tx.maybe<{ passkey_challenge: string | null }>(
    `delete from factor_challenges where token_hash = $1 and kind = $2 and expires_at > now() returning passkey_challenge`,
    [tokenHash, kind],
  )
