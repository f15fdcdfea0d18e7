import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { FindAccessLevel } from '#platform/access/check'
import type { AccessLevel } from '#platform/access/rules'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import { CHANGED } from './credential-cache.ts'
import { findRole, findUsable, type Role } from './store.ts'

// The rights to a credential. Its owner decides; `edit` may change it, `use` may name it in workflows. An owner of the
// workspace may see and revoke any credential, but use only credentials that are shared with them.

export const mayUse = (role: Role | null | undefined): boolean => role === 'owner' || role === 'edit' || role === 'use'

const accessLevels: Record<Role, AccessLevel> = {
  owner: 'owner',
  edit: 'member',
  use: 'viewer',
  see: 'viewer',
  manage: 'visible',
}

const roleOf = (ctx: Parameters<FindAccessLevel>[0], credentialId: string): Promise<Role | undefined> =>
  ctx.maybeWorkspace === null
    ? Promise.resolve(undefined)
    : findRole(ctx.tx, ctx.workspace.workspace_id, credentialId, ctx.person.user_id)

export const accessLevelInCredential: FindAccessLevel = async (ctx, credentialId) => {
  const role = await roleOf(ctx, credentialId)
  return role && accessLevels[role]
}

/** Returns the standing for reading and revoking, which owners of the workspace may do as well. */
export const accessLevelInOwnedCredential: FindAccessLevel = async (ctx, credentialId) => {
  const role = await roleOf(ctx, credentialId)
  return role && (ctx.workspace.role === 'owner' ? 'owner' : accessLevels[role])
}

/** Checks whether this person may use a credential that a definition or template names. */
export async function mayUseNamed(tx: Tx, workspaceId: string, named: string, userId: string): Promise<boolean> {
  const credentialId = fromWire('cred', named)
  return credentialId !== undefined && mayUse(await findRole(tx, workspaceId, credentialId, userId))
}

/**
 * Returns the provider of a language model's credential, by its uuid. Undefined if it is not a language model, or
 * this person may not use it.
 */
export async function findProvider(
  tx: Tx,
  workspaceId: string,
  credentialId: string,
  userId: string,
): Promise<string | undefined> {
  const row = await findUsable(tx, workspaceId, credentialId, userId)
  return row?.kind === 'llm' && mayUse(row.role) ? String(row.config.provider) : undefined
}

/**
 * Passes the credentials of a person who leaves to the person who gets their workflows, which would fail without
 * them.
 */
export const reassignCredentials: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  await tx.count(
    `update credentials set owner_id = (
       select user_id from memberships where workspace_id = $1 and user_id <> $2 and role = 'owner'
       order by user_id = $3 desc, joined_at, user_id limit 1), updated_at = now()
     where workspace_id = $1 and owner_id = $2`,
    [workspaceId, userId, byUserId],
  )
  tx.hint(CHANGED, '')
}
