import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'

export type ResourceToShare = 'thread' | 'job'

export type Found = {
  invitation_id: string
  workspace_id: string
  workspace_name: string
  org_id: string
  email: string
  role: string
  resource_kind: ResourceToShare | null
  resource_id: string | null
  invited_by: string | null
  invited_by_name: string | null
  expires_at: Date
}

/** Finds an invitation that can still be accepted. Every caller with the token counts as invited. */
export const findByToken = (tx: Tx, tokenHash: Buffer): Promise<Found | undefined> =>
  tx.maybe<Found>('select * from find_invitation($1)', [tokenHash])

export const isInvited = async (tx: Tx, orgId: string, email: string): Promise<boolean> =>
  (await tx.row<{ invited: boolean }>('select is_invited($1, $2) as invited', [orgId, email])).invited

export const findMemberByEmail = (
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<{ user_id: string; role: WorkspaceRole } | undefined> =>
  tx.maybe<{ user_id: string; role: WorkspaceRole }>(
    'select m.user_id, m.role from memberships m join users u using (user_id) where m.workspace_id = $1 and u.email = $2',
    [workspaceId, email],
  )

export type NewInvitation = {
  invitation_id: string
  email: string
  role: string
  resource_kind: ResourceToShare | null
  resource_id: string | null
  token_hash: Buffer
  invited_by: string
  lifetime_s: number
  accepted_by: string | null
}

export const insertInvitation = (
  tx: Tx,
  workspaceId: string,
  invitation: NewInvitation,
): Promise<{ expires_at: Date }> =>
  tx.row<{ expires_at: Date }>(
    `insert into invitations (invitation_id, workspace_id, email, role, resource_kind, resource_id, token_hash, invited_by,
       expires_at, accepted_by, accepted_at)
     values ($2, $1, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9), $10::uuid,
       case when $10::uuid is not null then now() end)
     returning expires_at`,
    [
      workspaceId,
      invitation.invitation_id,
      invitation.email,
      invitation.role,
      invitation.resource_kind,
      invitation.resource_id,
      invitation.token_hash,
      invitation.invited_by,
      invitation.lifetime_s,
      invitation.accepted_by,
    ],
  )

/** Deletes pending invitations to the same target, because a newer one replaces them. */
export const deleteWaiting = (
  tx: Tx,
  workspaceId: string,
  target: { email: string; resource_id: string | null },
): Promise<number> =>
  tx.count(
    `delete from invitations where workspace_id = $1 and email = $2 and resource_id is not distinct from $3::uuid
       and accepted_at is null`,
    [workspaceId, target.email, target.resource_id],
  )

export const deleteWaitingFor = (tx: Tx, workspaceId: string, resourceId: string): Promise<number> =>
  tx.count('delete from invitations where workspace_id = $1 and resource_id = $2 and accepted_at is null', [
    workspaceId,
    resourceId,
  ])

/** Of several simultaneous requests, only the one that finds the invitation unaccepted succeeds. */
export const claim = (tx: Tx, workspaceId: string, invitationId: string): Promise<number> =>
  tx.count(
    `update invitations set accepted_at = now()
     where workspace_id = $1 and invitation_id = $2 and accepted_at is null and expires_at > now()`,
    [workspaceId, invitationId],
  )

export const noteAccepted = (tx: Tx, workspaceId: string, invitationId: string, userId: string): Promise<number> =>
  tx.count('update invitations set accepted_by = $3 where workspace_id = $1 and invitation_id = $2', [
    workspaceId,
    invitationId,
    userId,
  ])

/** Adds a member. A guest gets the invited role; all other members keep their role. */
export const joinWorkspace = (tx: Tx, workspaceId: string, userId: string, role: WorkspaceRole): Promise<number> =>
  tx.count(
    `insert into memberships (workspace_id, user_id, role) values ($1, $2, $3)
     on conflict (workspace_id, user_id) do update set role = excluded.role
     where memberships.role = 'guest' and excluded.role <> 'guest'`,
    [workspaceId, userId, role],
  )

export const deleteInvitation = (tx: Tx, workspaceId: string, invitationId: string) =>
  tx.maybe<{ email: string }>(
    'delete from invitations where workspace_id = $1 and invitation_id = $2 and accepted_at is null returning email',
    [workspaceId, invitationId],
  )

export const deleteSentBy = (
  tx: Tx,
  workspaceId: string,
  userId: string,
  resource: { everything: boolean; id: string | null },
): Promise<number> =>
  tx.count(
    `delete from invitations where workspace_id = $1 and invited_by = $2 and accepted_at is null
       and ($3 or resource_id is not distinct from $4::uuid)`,
    [workspaceId, userId, resource.everything, resource.id],
  )
