import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { FindAccessLevel } from '#platform/access/check'
import type { AccessLevel } from '#platform/access/rules'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import { findRole, type Role, reassignBases } from './store.ts'

// The rights in a knowledge base. Its owner decides. `edit` allows changing the base and its documents, `use` allows
// searching and reading. An owner of the workspace may see every base and delete it, but reads only what is shared.

export const mayRead = (role: Role | null | undefined): boolean => role === 'owner' || role === 'edit' || role === 'use'

export const mayEdit = (role: Role | null | undefined): boolean => role === 'owner' || role === 'edit'

const accessLevels: Record<Role, AccessLevel> = { owner: 'owner', edit: 'member', use: 'viewer', manage: 'visible' }

const roleOf = (ctx: Parameters<FindAccessLevel>[0], knowledgeId: string): Promise<Role | undefined> =>
  ctx.maybeWorkspace === null
    ? Promise.resolve(undefined)
    : findRole(ctx.tx, ctx.workspace.workspace_id, knowledgeId, ctx.person.user_id)

export const accessLevelInKnowledge: FindAccessLevel = async (ctx, knowledgeId) => {
  const role = await roleOf(ctx, knowledgeId)
  return role && accessLevels[role]
}

/** For viewing and deleting: owners of the workspace are also allowed. */
export const accessLevelInOwnedKnowledge: FindAccessLevel = async (ctx, knowledgeId) => {
  const role = await roleOf(ctx, knowledgeId)
  return role && (ctx.workspace.role === 'owner' ? 'owner' : accessLevels[role])
}

/** Checks whether a person may search a base that a definition or template names. */
export async function mayReadNamed(tx: Tx, workspaceId: string, named: string, userId: string): Promise<boolean> {
  const knowledgeId = fromWire('kb', named)
  return knowledgeId !== undefined && mayRead(await findRole(tx, workspaceId, knowledgeId, userId))
}

/**
 * Transfers the knowledge bases of a leaving person to the person who gets their workflows, which would fail without
 * the bases.
 */
export const reassignKnowledge: OnMemberRemoved = async (tx, removed) => void (await reassignBases(tx, removed))
