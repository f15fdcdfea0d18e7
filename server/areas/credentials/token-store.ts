import type { Tx } from '#platform/db/pool'

/** The maximum time of a refresh in seconds. After that another process may try. */
const LEASE_S = 30

/**
 * Returns true for exactly one of the callers that saw this version of the token. After a 401, at most every 30
 * seconds.
 */
export const takeLease = async (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  { lease, version, refused }: { lease: string; version: number; refused: boolean },
): Promise<boolean> =>
  (await tx.count(
    `update credentials set refresh_lease = $3, refresh_lease_until = now() + make_interval(secs => $5),
       renewed_at = case when $6 then now() else renewed_at end
     where workspace_id = $1 and credential_id = $2 and token_version = $4 and state = 'ready'
       and (refresh_lease_until is null or refresh_lease_until < now())
       and (not $6 or renewed_at is null or renewed_at < now() - interval '30 seconds')`,
    [workspaceId, credentialId, lease, version, LEASE_S, refused],
  )) === 1

/** The time before the expiry of a token at which it is renewed, in seconds. */
const RENEW_BEFORE_S = 60

/** A token with a short lifetime is renewed after half of it. Otherwise every call would renew the token. */
const renewBeforeS = (lifetimeS: number): number => Math.min(RENEW_BEFORE_S, Math.floor(lifetimeS / 2))

/** Returns false if the secrets were replaced in the meantime, or the lease expired and another process took it. */
export const storeTokens = async (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  { lease, tokens, lifetimeS }: { lease: string; tokens: Buffer; lifetimeS: number },
): Promise<boolean> =>
  (await tx.count(
    `update credentials set tokens = $4, token_version = token_version + 1, token_expires_at = now() + make_interval(secs => $5),
       renew_before_s = $6, refresh_lease = null, refresh_lease_until = null
     where workspace_id = $1 and credential_id = $2 and refresh_lease = $3`,
    [workspaceId, credentialId, lease, tokens, lifetimeS, renewBeforeS(lifetimeS)],
  )) === 1

/** Stores the tokens after a person agreed. A process that was refreshing the old tokens loses its lease. */
export const connect = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  { tokens, lifetimeS }: { tokens: Buffer; lifetimeS: number },
): Promise<number> =>
  tx.count(
    `update credentials set tokens = $3, token_version = token_version + 1, token_expires_at = now() + make_interval(secs => $4),
       renew_before_s = $5, refresh_lease = null, refresh_lease_until = null, renewed_at = null, state = 'ready', problem = null, updated_at = now()
     where workspace_id = $1 and credential_id = $2 and state <> 'revoked'`,
    [workspaceId, credentialId, tokens, lifetimeS, renewBeforeS(lifetimeS)],
  )

export const releaseLease = (tx: Tx, workspaceId: string, credentialId: string, lease: string): Promise<number> =>
  tx.count(
    `update credentials set refresh_lease = null, refresh_lease_until = null
     where workspace_id = $1 and credential_id = $2 and refresh_lease = $3`,
    [workspaceId, credentialId, lease],
  )

/** Marks the credential and returns its name and owner. Undefined if it was already marked. */
export const markNeedsReconnect = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  { lease, problem }: { lease: string; problem: string },
): Promise<{ name: string; owner_id: string | null } | undefined> =>
  tx.maybe<{ name: string; owner_id: string | null }>(
    `update credentials set state = 'needs_reconnect', problem = $4, refresh_lease = null, refresh_lease_until = null,
       updated_at = now()
     where workspace_id = $1 and credential_id = $2 and refresh_lease = $3 and state = 'ready'
     returning name, owner_id`,
    [workspaceId, credentialId, lease, problem],
  )

export const listWorkspaceOwners = async (tx: Tx, workspaceId: string): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(`select user_id from memberships where workspace_id = $1 and role = 'owner'`, [
      workspaceId,
    ])
  ).map(({ user_id }) => user_id)

export type Attempt = {
  state_hash: Buffer
  credential_id: string
  session_id: string
  user_id: string
  verifier: Buffer
  redirect_uri: string
}

export async function insertAttempt(tx: Tx, workspaceId: string, attempt: Attempt): Promise<void> {
  await tx.count(
    'delete from credential_authorizations where workspace_id = $1 and (expires_at < now() or credential_id = $2 and session_id = $3)',
    [workspaceId, attempt.credential_id, attempt.session_id],
  )
  await tx.count(
    `insert into credential_authorizations (state_hash, workspace_id, credential_id, session_id, user_id, verifier, redirect_uri, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, now() + interval '10 minutes')`,
    [
      attempt.state_hash,
      workspaceId,
      attempt.credential_id,
      attempt.session_id,
      attempt.user_id,
      attempt.verifier,
      attempt.redirect_uri,
    ],
  )
}

export const takeAttempt = (tx: Tx, stateHash: Buffer, sessionId: string) =>
  tx.maybe<{ workspace_id: string; credential_id: string; user_id: string; verifier: Buffer; redirect_uri: string }>(
    'select * from take_credential_authorization($1, $2)',
    [stateHash, sessionId],
  )
