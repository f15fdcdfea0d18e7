import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type ApiKey, apiKeyList, type OwnWorkspace, type Session, sessionList, type User } from './schema.ts'

// People, their sessions and their keys. Row security shows the rows of a person to that person only.

export type NewUser = {
  user_id: string
  org_id: string
  email: string
  name: string
  password_hash: string | null
  is_verified: boolean
}

export const insertUser = (tx: Tx, user: NewUser): Promise<User> =>
  tx.row<User>(
    `insert into users (user_id, org_id, email, name, password_hash, email_verified_at)
     values ($1, $2, $3, $4, $5, case when $6 then now() end) returning user_id, email, name, email_verified_at, created_at`,
    [user.user_id, user.org_id, user.email, user.name, user.password_hash, user.is_verified],
  )

export const findUser = (tx: Tx, userId: string): Promise<User> =>
  tx.row<User>('select user_id, email, name, email_verified_at, created_at from users where user_id = $1', [userId])

export type Credentials = { user_id: string; name: string; password_hash: string | null }

export const credentialsOf = (tx: Tx, orgId: string, email: string): Promise<Credentials | undefined> =>
  tx.maybe<Credentials>('select * from credentials_of($1, $2)', [orgId, email])

export const setPassword = (tx: Tx, userId: string, passwordHash: string): Promise<number> =>
  tx.count('update users set password_hash = $2 where user_id = $1', [userId, passwordHash])

export const spendOperatorClaim = async (tx: Tx, email: string, tokenHash: Buffer): Promise<boolean> =>
  (await tx.row<{ used: boolean }>('select use_operator_claim($1, $2) as used', [email, tokenHash])).used

export const listOwnWorkspaces = (tx: Tx, userId: string): Promise<OwnWorkspace[]> =>
  tx.rows<OwnWorkspace>(
    `select w.workspace_id, w.company_id, w.name, m.role from memberships m join workspaces w using (workspace_id)
     where m.user_id = $1 order by m.joined_at, w.workspace_id`,
    [userId],
  )

export const findOwnWorkspace = (tx: Tx, workspaceId: string, userId: string): Promise<OwnWorkspace> =>
  tx.row<OwnWorkspace>(
    `select w.workspace_id, w.company_id, w.name, m.role from memberships m join workspaces w using (workspace_id)
     where w.workspace_id = $1 and m.user_id = $2`,
    [workspaceId, userId],
  )

const sessionColumns = 'session_id, user_agent, address, created_at, last_seen_at, expires_at'

export type NewSession = {
  session_id: string
  user_id: string
  token_hash: Buffer
  selected_workspace_id: string | null
  user_agent: string | null
  address: string
  lifetime_s: number
}

export const insertSession = (tx: Tx, session: NewSession): Promise<Omit<Session, 'current'>> =>
  tx.row<Omit<Session, 'current'>>(
    `insert into sessions (session_id, user_id, token_hash, selected_workspace_id, user_agent, address, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) returning ${sessionColumns}`,
    [
      session.session_id,
      session.user_id,
      session.token_hash,
      session.selected_workspace_id,
      session.user_agent,
      session.address,
      session.lifetime_s,
    ],
  )

/** Deletes expired sessions, and the oldest ones beyond `most`. */
export const trimSessions = (tx: Tx, userId: string, most: number): Promise<number> =>
  tx.count(
    `delete from sessions where user_id = $1 and (expires_at < now() or session_id in (
       select session_id from sessions where user_id = $1 order by session_id desc offset $2))`,
    [userId, most],
  )

export const listSessions = (tx: Tx, userId: string, currentId: string | null, asked: ListInput) =>
  readList<Session>(tx, sessionList, asked, {
    sql: `select ${sessionColumns}, session_id is not distinct from $2::uuid as current from sessions
      where user_id = $1 and expires_at > now()`,
    values: [userId, currentId],
  })

export const findSession = (
  tx: Tx,
  userId: string,
  currentId: string | null,
  sessionId: string,
): Promise<Session | undefined> =>
  tx.maybe<Session>(
    `select ${sessionColumns}, session_id is not distinct from $2::uuid as current from sessions
     where user_id = $1 and session_id = $3`,
    [userId, currentId, sessionId],
  )

export const deleteSession = (tx: Tx, userId: string, sessionId: string): Promise<number> =>
  tx.count('delete from sessions where user_id = $1 and session_id = $2', [userId, sessionId])

export const deleteSessions = (tx: Tx, userId: string, exceptId: string | null): Promise<number> =>
  tx.count('delete from sessions where user_id = $1 and session_id is distinct from $2::uuid', [userId, exceptId])

const keyColumns = 'key_id, name, prefix, workspace_id, scopes, created_at, last_used_at, expires_at'

export const listKeys = (tx: Tx, userId: string, asked: ListInput) =>
  readList<ApiKey>(tx, apiKeyList, asked, {
    sql: `select ${keyColumns} from api_keys where user_id = $1 and grant_id is null`,
    values: [userId],
  })

export const findKey = (tx: Tx, userId: string, keyId: string): Promise<ApiKey | undefined> =>
  tx.maybe<ApiKey>(`select ${keyColumns} from api_keys where user_id = $1 and key_id = $2 and grant_id is null`, [
    userId,
    keyId,
  ])

export type NewKey = {
  key_id: string
  user_id: string
  workspace_id: string | null
  name: string
  prefix: string
  token_hash: Buffer
  scopes: string[] | null
  expires_at: Date | null
  /** The creator, if the key belongs to another account. */
  created_by: string | null
}

export const insertKey = (tx: Tx, key: NewKey): Promise<ApiKey> =>
  tx.row<ApiKey>(
    `insert into api_keys (key_id, user_id, workspace_id, name, prefix, token_hash, scopes, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${keyColumns}`,
    [
      key.key_id,
      key.user_id,
      key.workspace_id,
      key.name,
      key.prefix,
      key.token_hash,
      key.scopes,
      key.expires_at,
      key.created_by,
    ],
  )

/** If `ids` is null, deletes all keys except the one of the request. */
export const deleteKeys = (tx: Tx, userId: string, ids: string[] | null, currentId: string | null): Promise<ApiKey[]> =>
  tx.rows<ApiKey>(
    `delete from api_keys where user_id = $1 and grant_id is null
       and case when $2::uuid[] is null then key_id is distinct from $3::uuid else key_id = any ($2) end returning ${keyColumns}`,
    [userId, ids, currentId],
  )

export const deleteKey = (tx: Tx, userId: string, keyId: string): Promise<number> =>
  tx.count('delete from api_keys where user_id = $1 and key_id = $2 and grant_id is null', [userId, keyId])
