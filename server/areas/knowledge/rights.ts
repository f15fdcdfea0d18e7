import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { StandingIn } from '#platform/access/check'
import type { Standing } from '#platform/access/words'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import { findRole, passOn, type Role } from './store.ts'

// Who may do what with a knowledge base. Its owner decides; `edit` changes it and its documents, `use` searches and reads. An
// owner of the workspace may look at any base and delete it, and reads only what is shared with them.

export const mayRead = (role: Role | null | undefined): boolean => role === 'owner' || role === 'edit' || role === 'use'

export const mayEdit = (role: Role | null | undefined): boolean => role === 'owner' || role === 'edit'

const standings: Record<Role, Standing> = { owner: 'owner', edit: 'member', use: 'viewer', manage: 'visible' }

const roleOf = (ctx: Parameters<StandingIn>[0], knowledgeId: string): Promise<Role | undefined> =>
  ctx.maybeWorkspace === null
    ? Promise.resolve(undefined)
    : findRole(ctx.tx, ctx.workspace.workspace_id, knowledgeId, ctx.person.user_id)

export const standingInKnowledge: StandingIn = async (ctx, knowledgeId) => {
  const role = await roleOf(ctx, knowledgeId)
  return role && standings[role]
}

/** To look and to delete: owners of the workspace pass as well. */
export const standingInOwnedKnowledge: StandingIn = async (ctx, knowledgeId) => {
  const role = await roleOf(ctx, knowledgeId)
  return role && (ctx.workspace.role === 'owner' ? 'owner' : standings[role])
}

/** For definitions and templates that name one: whether this person may search it. */
export async function mayReadNamed(tx: Tx, workspaceId: string, named: string, userId: string): Promise<boolean> {
  const knowledgeId = fromWire('kb', named)
  return knowledgeId !== undefined && mayRead(await findRole(tx, workspaceId, knowledgeId, userId))
}

/** Knowledge bases of a person who leaves go to the person who gets their workflows, which would fail without them. */
export const passKnowledgeOn: OnMemberRemoved = async (tx, removed) => void (await passOn(tx, removed))
