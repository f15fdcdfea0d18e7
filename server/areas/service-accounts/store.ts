import { type ApiKey, apiKeyList } from '#areas/identity/schema'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type ServiceAccount, serviceAccountList } from './schema.ts'

const columns = `s.user_id, u.name, s.description, m.role, s.disabled_at is not null as disabled, s.created_by, s.created_at, s.updated_at,
  (select max(k.last_used_at) from api_keys k where k.workspace_id = s.workspace_id and k.user_id = s.user_id) as last_used_at`
const joined = 'service_accounts s join users u using (user_id) join memberships m using (workspace_id, user_id)'

export const findAccount = (tx: Tx, workspaceId: string, userId: string): Promise<ServiceAccount | undefined> =>
  tx.maybe<ServiceAccount>(`select ${columns} from ${joined} where s.workspace_id = $1 and s.user_id = $2`, [
    workspaceId,
    userId,
  ])

export const listAccounts = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<ServiceAccount>(tx, serviceAccountList, asked, {
    sql: `select ${columns} from ${joined} where s.workspace_id = $1`,
    values: [workspaceId],
  })

/** Counts the accounts. Locks the workspace, so that concurrent creations cannot exceed the limit. */
export const countAccounts = async (tx: Tx, workspaceId: string): Promise<number> => {
  await tx.rows('select from workspaces where workspace_id = $1 for no key update', [workspaceId])
  return (
    await tx.row<{ accounts: number }>(
      'select count(*)::int as accounts from service_accounts where workspace_id = $1',
      [workspaceId],
    )
  ).accounts
}

export type NewAccount = {
  user_id: string
  org_id: string
  email: string
  name: string
  description: string | null
  role: string
  created_by: string
}

export async function insertAccount(tx: Tx, workspaceId: string, account: NewAccount): Promise<void> {
  const { user_id, org_id, email, name, created_by } = account
  await tx.rows(
    `insert into users (user_id, org_id, email, name, kind, held_by) values ($1, $2, $3, $4, 'service_account', array[$5::uuid])`,
    [user_id, org_id, email, name, created_by],
  )
  await tx.rows('insert into memberships (workspace_id, user_id, role) values ($1, $2, $3)', [
    workspaceId,
    user_id,
    account.role,
  ])
  await tx.rows(
    'insert into service_accounts (workspace_id, user_id, description, created_by) values ($1, $2, $3, $4)',
    [workspaceId, user_id, account.description, created_by],
  )
}

export async function updateAccount(
  tx: Tx,
  workspaceId: string,
  userId: string,
  to: { name: string; description: string | null; disabled: boolean },
): Promise<void> {
  await tx.rows('update users set name = $2 where user_id = $1', [userId, to.name])
  await tx.rows(
    `update service_accounts set description = $3, updated_at = now(),
       disabled_at = case when $4 then coalesce(disabled_at, now()) end
     where workspace_id = $1 and user_id = $2`,
    [workspaceId, userId, to.description, to.disabled],
  )
}

export const updateRole = (tx: Tx, workspaceId: string, userId: string, role: string): Promise<number> =>
  tx.count('update memberships set role = $3 where workspace_id = $1 and user_id = $2', [workspaceId, userId, role])

/**
 * Records who created a key of the account. This person may use the account, so they count as an initiator of its
 * executions.
 */
export const noteHolder = (tx: Tx, userId: string, holderId: string): Promise<number> =>
  tx.count(
    'update users set held_by = array_append(held_by, $2::uuid) where user_id = $1 and not $2::uuid = any (coalesce(held_by, $3))',
    [userId, holderId, []],
  )

const keyColumns = 'key_id, name, prefix, workspace_id, scopes, created_at, last_used_at, expires_at'

export const findKey = (tx: Tx, workspaceId: string, userId: string, keyId: string): Promise<ApiKey | undefined> =>
  tx.maybe<ApiKey>(`select ${keyColumns} from api_keys where workspace_id = $1 and user_id = $2 and key_id = $3`, [
    workspaceId,
    userId,
    keyId,
  ])

export const listKeys = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<ApiKey>(tx, apiKeyList, asked, {
    sql: `select ${keyColumns} from api_keys where workspace_id = $1 and user_id = $2`,
    values: [workspaceId, userId],
  })

export const deleteKey = (tx: Tx, workspaceId: string, userId: string, keyId: string): Promise<number> =>
  tx.count('delete from api_keys where workspace_id = $1 and user_id = $2 and key_id = $3', [
    workspaceId,
    userId,
    keyId,
  ])
