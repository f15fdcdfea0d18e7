import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { CredentialKind } from './kinds.ts'
import { type Credential, type CredentialState, type CredentialTest, credentialList } from './schema.ts'

/** The columns that people may see, without sealed values. */
const columns = `c.credential_id, c.name, c.kind, c.service, c.hosts, c.config, c.state, c.problem, c.owner_id,
  coalesce((select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', s.kind, 'id', coalesce(s.user_id, s.team_id), 'role', s.role))
    order by s.kind, s.user_id, s.team_id) from credential_shares s
    where s.workspace_id = c.workspace_id and s.credential_id = c.credential_id), '[]') as shared,
  c.expires_at, c.last_used_at, c.last_test, c.created_at, c.updated_at`

export type Role = 'owner' | 'edit' | 'use' | 'see' | 'manage'

/** A credential with its sealed values, for use. */
export type Usable = {
  workspace_id: string
  credential_id: string
  name: string
  kind: CredentialKind
  service: string | null
  hosts: string[]
  config: JsonObject
  state: CredentialState
  problem: string | null
  owner_id: string | null
  secrets: Buffer | null
  tokens: Buffer | null
  token_version: number
  /** True if the token is valid for less than a minute, by the clock of the database. */
  token_stale: boolean
  token_ended: boolean
  /** True while a process requests a new token. */
  refreshing: boolean
  expired: boolean
}

const usable = `c.workspace_id, c.credential_id, c.name, c.kind, c.service, c.hosts, c.config, c.state, c.problem, c.owner_id, c.secrets,
  c.tokens, c.token_version, coalesce(c.token_expires_at < now() + make_interval(secs => c.renew_before_s), true) as token_stale,
  coalesce(c.token_expires_at <= now(), true) as token_ended, coalesce(c.refresh_lease_until > now(), false) as refreshing,
  coalesce(c.expires_at <= now(), false) as expired`

export const findRole = async (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  userId: string,
): Promise<Role | undefined> => {
  const row = await tx.maybe<{ role: Role | null }>('select credential_role($1, $2, $3) as role', [
    workspaceId,
    credentialId,
    userId,
  ])
  return row?.role ?? undefined
}

export const findCredential = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  userId: string,
): Promise<Credential | undefined> =>
  tx.maybe<Credential>(
    `select ${columns}, credential_role(c.workspace_id, c.credential_id, $3) as role
     from credentials c where c.workspace_id = $1 and c.credential_id = $2`,
    [workspaceId, credentialId, userId],
  )

export const listCredentials = (tx: Tx, workspaceId: string, userId: string, roles: Role[], asked: ListInput) =>
  readList<Credential>(tx, credentialList, asked, {
    sql: `select * from (
        select ${columns}, credential_role(c.workspace_id, c.credential_id, $2) as role from credentials c where c.workspace_id = $1
      ) seen where role = any ($3)`,
    values: [workspaceId, userId, roles],
  })

/**
 * The credentials that a service accepts: by the service or piece that they name, by the origin of their tokens, or
 * by a host to which they may be sent.
 */
export type CredentialsFor = {
  services?: readonly string[]
  piece?: string
  tokenUrls?: readonly string[]
  /** The host entries that match this host, including wildcards. */
  hosts?: readonly string[]
}

export const listCredentialsFor = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  { services = [], piece, tokenUrls = [], hosts = [] }: CredentialsFor,
  asked: ListInput,
) =>
  readList<Credential>(tx, credentialList, asked, {
    sql: `select * from (
        select ${columns}, credential_role(c.workspace_id, c.credential_id, $2) as role from credentials c
        where c.workspace_id = $1 and (c.service = any ($3) or (c.kind = 'piece' and c.config ->> 'service' = $4)
          or (c.kind = 'oauth2_code' and c.config ->> 'token_url' = any ($5)) or c.hosts && $6)
      ) seen where role is not null`,
    values: [workspaceId, userId, services, piece ?? null, tokenUrls, hosts],
  })

/** Finds a credential with the role of `userId` in it. The role is null if they have none. */
export const findUsable = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  userId: string | null,
): Promise<(Usable & { role: Role | null }) | undefined> =>
  tx.maybe<Usable & { role: Role | null }>(
    `select ${usable}, credential_role(c.workspace_id, c.credential_id, $3) as role
     from credentials c where c.workspace_id = $1 and c.credential_id = $2`,
    [workspaceId, credentialId, userId],
  )

export const lockUsable = (tx: Tx, workspaceId: string, credentialId: string): Promise<Usable | undefined> =>
  tx.maybe<Usable>(
    `select ${usable} from credentials c where c.workspace_id = $1 and c.credential_id = $2 for no key update`,
    [workspaceId, credentialId],
  )

export const insertCredential = (
  tx: Tx,
  workspaceId: string,
  row: {
    credential_id: string
    name: string
    kind: CredentialKind
    service: string | null
    hosts: string[]
    config: JsonObject
    state: CredentialState
    owner_id: string
    secrets: Buffer
    expires_at: Date | null
  },
): Promise<number> =>
  tx.count(
    `insert into credentials (workspace_id, credential_id, name, kind, service, hosts, config, state, owner_id, secrets, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      workspaceId,
      row.credential_id,
      row.name,
      row.kind,
      row.service,
      row.hosts,
      row.config,
      row.state,
      row.owner_id,
      row.secrets,
      row.expires_at,
    ],
  )

export const updateCredential = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  patch: {
    name?: string | undefined
    hosts?: string[] | undefined
    config?: JsonObject | undefined
    owner_id?: string | undefined
    expires_at?: Date | null | undefined
  },
): Promise<number> =>
  tx.count(
    `update credentials set name = coalesce($3, name), hosts = coalesce($4, hosts), config = coalesce($5, config),
       owner_id = coalesce($6, owner_id), expires_at = case when $7 then $8 else expires_at end, updated_at = now()
     where workspace_id = $1 and credential_id = $2`,
    [
      workspaceId,
      credentialId,
      patch.name ?? null,
      patch.hosts ?? null,
      patch.config ?? null,
      patch.owner_id ?? null,
      patch.expires_at !== undefined,
      patch.expires_at ?? null,
    ],
  )

/** Replaces the secrets and deletes everything that was derived from the old ones, such as tokens. */
export const storeSecrets = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  { secrets, state }: { secrets: Buffer; state: CredentialState },
): Promise<number> =>
  tx.count(
    `update credentials set secrets = $3, state = $4, problem = null, tokens = null, token_expires_at = null,
       token_version = token_version + 1, refresh_lease = null, refresh_lease_until = null, last_test = null, updated_at = now()
     where workspace_id = $1 and credential_id = $2`,
    [workspaceId, credentialId, secrets, state],
  )

export const revokeCredential = (tx: Tx, workspaceId: string, credentialId: string): Promise<number> =>
  tx.count(
    `update credentials set state = 'revoked', secrets = null, tokens = null, token_expires_at = null, problem = null,
       token_version = token_version + 1, refresh_lease = null, refresh_lease_until = null, updated_at = now()
     where workspace_id = $1 and credential_id = $2 and state <> 'revoked'`,
    [workspaceId, credentialId],
  )

export const deleteCredential = (tx: Tx, workspaceId: string, credentialId: string): Promise<number> =>
  tx.count('delete from credentials where workspace_id = $1 and credential_id = $2', [workspaceId, credentialId])

export const recordTest = (tx: Tx, workspaceId: string, credentialId: string, test: CredentialTest): Promise<number> =>
  tx.count('update credentials set last_test = $3 where workspace_id = $1 and credential_id = $2', [
    workspaceId,
    credentialId,
    test,
  ])

export const describeCredential = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
): Promise<{ name: string; service: string | null; kind: CredentialKind } | undefined> =>
  tx.maybe('select name, service, kind from credentials where workspace_id = $1 and credential_id = $2', [
    workspaceId,
    credentialId,
  ])
