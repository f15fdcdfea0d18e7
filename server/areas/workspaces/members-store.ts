import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { invitationList, memberList, type PendingInvitation, type WorkspaceMember } from './schema.ts'

const columns = 'u.user_id, u.kind, u.email, u.name, m.role, m.joined_at'

export const findMember = (tx: Tx, workspaceId: string, userId: string): Promise<WorkspaceMember | undefined> =>
  tx.maybe<WorkspaceMember>(
    `select ${columns} from memberships m join users u using (user_id) where m.workspace_id = $1 and m.user_id = $2`,
    [workspaceId, userId],
  )

export const listMembers = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<WorkspaceMember>(tx, memberList, asked, {
    sql: `select ${columns} from memberships m join users u using (user_id) where m.workspace_id = $1`,
    values: [workspaceId],
  })

/**
 * Locks the workspace to serialize changes of its owners. A later statement sees what the previous transaction did: of
 * fifty owners who leave at once, the last is refused as the last owner.
 */
export const lockWorkspace = (tx: Tx, workspaceId: string): Promise<number> =>
  tx.count('select from workspaces where workspace_id = $1 for no key update', [workspaceId])

export const countOwners = async (tx: Tx, workspaceId: string): Promise<number> =>
  (
    await tx.row<{ owners: number }>(
      `select count(*)::int as owners from memberships where workspace_id = $1 and role = 'owner'`,
      [workspaceId],
    )
  ).owners

export const updateRole = (tx: Tx, workspaceId: string, userId: string, role: WorkspaceRole): Promise<number> =>
  tx.count('update memberships set role = $3 where workspace_id = $1 and user_id = $2', [workspaceId, userId, role])

export const deleteMember = (tx: Tx, workspaceId: string, userId: string): Promise<number> =>
  tx.count('delete from memberships where workspace_id = $1 and user_id = $2', [workspaceId, userId])

export const deleteBoundKeys = (tx: Tx, workspaceId: string, userId: string): Promise<number> =>
  tx.count('delete from api_keys where workspace_id = $1 and user_id = $2', [workspaceId, userId])

const invitationColumns = 'invitation_id, email, role, resource_kind, invited_by, created_at, expires_at'

export const findInvitation = (
  tx: Tx,
  workspaceId: string,
  invitationId: string,
): Promise<PendingInvitation | undefined> =>
  tx.maybe<PendingInvitation>(
    `select ${invitationColumns} from invitations where workspace_id = $1 and invitation_id = $2 and accepted_at is null`,
    [workspaceId, invitationId],
  )

export const listInvitations = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<PendingInvitation>(tx, invitationList, asked, {
    sql: `select ${invitationColumns} from invitations
      where workspace_id = $1 and accepted_at is null and expires_at > now()`,
    values: [workspaceId],
  })
