import type { z } from 'zod'
import type { CheckMembers, Invitations } from '#areas/identity/invitations'
import { recordAudit } from '#platform/audit'
import { enterWorkspace } from '#platform/auth/scope'
import { invalid, problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import type { OnMemberRemoved } from './member-removal.ts'
import * as store from './members-store.ts'
import type { Invitation, MemberPatch, NewInvitation, WorkspaceMember } from './schema.ts'
import { findRole, findWorkspace } from './store.ts'

type InWorkspace = { workspace_id: string }
type ById = InWorkspace & { user_id: string }

export function makeMembers(options: {
  invitations: Invitations
  onRemoved: OnMemberRemoved[]
  checkMembers: CheckMembers
}) {
  const { invitations, onRemoved, checkMembers } = options

  const getMember = async (ctx: Context, { workspace_id, user_id }: ById): Promise<WorkspaceMember> => {
    await enterWorkspace(ctx.tx, workspace_id)
    const member = await store.findMember(ctx.tx, workspace_id, user_id)
    if (!member) throw problem('not_found')
    return member
  }

  /** Locks the workspace, and checks again that the caller is still an owner. */
  const lockAsOwner = async (ctx: Context, { workspace_id, user_id }: ById): Promise<void> => {
    await enterWorkspace(ctx.tx, workspace_id)
    await store.lockWorkspace(ctx.tx, workspace_id)
    const role = await findRole(ctx.tx, workspace_id, ctx.person.user_id)
    if (role === undefined) throw problem('not_found')
    if (role !== 'owner' && user_id !== ctx.person.user_id)
      throw problem('forbidden', 'Only an owner of the workspace may do this.')
  }

  const keepAnOwner = async (ctx: Context, workspaceId: string, member: WorkspaceMember): Promise<void> => {
    if (member.role === 'owner' && (await store.countOwners(ctx.tx, workspaceId)) === 1)
      throw problem('last_owner', 'Make another person an owner of the workspace first.')
  }

  const passOn = async (ctx: Context, { workspace_id, user_id }: ById): Promise<void> => {
    for (const pass of onRemoved)
      await pass(ctx.tx, { workspaceId: workspace_id, userId: user_id, byUserId: ctx.person.user_id })
    await invitations.revokeOf(ctx.tx, workspace_id, user_id, 'everything')
  }

  return {
    getMember,

    async listMembers(ctx: Context, { workspace_id, ...asked }: InWorkspace & ListInput) {
      await enterWorkspace(ctx.tx, workspace_id)
      return store.listMembers(ctx.tx, workspace_id, asked)
    },

    async inviteMember(ctx: Context, input: InWorkspace & z.output<typeof NewInvitation>): Promise<Invitation> {
      const { workspace_id, email, role } = input
      const workspace = await findWorkspace(ctx.tx, workspace_id, ctx.person.user_id)
      return invitations.invite(ctx, { workspaceId: workspace_id, email, role, to: workspace!.name })
    },

    async listInvitations(ctx: Context, { workspace_id, ...asked }: InWorkspace & ListInput) {
      await enterWorkspace(ctx.tx, workspace_id)
      return store.listInvitations(ctx.tx, workspace_id, asked)
    },

    async getInvitation(ctx: Context, { workspace_id, invitation_id }: InWorkspace & { invitation_id: string }) {
      await enterWorkspace(ctx.tx, workspace_id)
      const invitation = await store.findInvitation(ctx.tx, workspace_id, invitation_id)
      if (!invitation) throw problem('not_found')
      return invitation
    },

    async revokeInvitation(ctx: Context, input: InWorkspace & { invitation_id: string }): Promise<void> {
      await enterWorkspace(ctx.tx, input.workspace_id)
      await invitations.revoke(ctx, input.workspace_id, input.invitation_id)
    },

    async updateMember(ctx: Context, input: ById & z.output<typeof MemberPatch>): Promise<WorkspaceMember> {
      const { workspace_id, user_id, role } = input
      await lockAsOwner(ctx, input)
      const before = await getMember(ctx, input)
      if (before.role === role) return before
      if (before.kind === 'service_account' && role !== 'member' && role !== 'viewer')
        throw invalid([{ path: '/role', message: 'of a service account is member or viewer' }])
      await keepAnOwner(ctx, workspace_id, before)
      if (before.role === 'guest') await checkMembers(ctx.tx, workspace_id)
      if (role === 'guest') await passOn(ctx, input)
      await store.updateRole(ctx.tx, workspace_id, user_id, role)
      if (before.role === 'owner') await invitations.revokeOf(ctx.tx, workspace_id, user_id, 'workspace')
      await recordAudit(ctx, ctx.tx, {
        action: 'member.role_changed',
        subject: toWire('usr', user_id),
        workspaceId: workspace_id,
        data: { from: before.role, to: role },
      })
      if (user_id !== ctx.person.user_id)
        await deliverEvent(ctx.tx, {
          workspaceId: workspace_id,
          kind: 'member.role_changed',
          title: `Your role is now ${role}`,
          body: `${ctx.person.name} changed your role from ${before.role} to ${role}.`,
          to: [user_id],
        })
      return { ...before, role }
    },

    /** Also deletes the person's keys for this workspace and the invitations that they sent. */
    async removeMember(ctx: Context, input: ById): Promise<void> {
      const { workspace_id, user_id } = input
      await lockAsOwner(ctx, input)
      const member = await getMember(ctx, input)
      await keepAnOwner(ctx, workspace_id, member)
      await recordAudit(ctx, ctx.tx, {
        action: removalOf(ctx, member),
        subject: toWire('usr', user_id),
        workspaceId: workspace_id,
        data: { role: member.role },
      })
      await passOn(ctx, input)
      await store.deleteBoundKeys(ctx.tx, workspace_id, user_id)
      await store.deleteMember(ctx.tx, workspace_id, user_id)
    },
  }
}

function removalOf(ctx: Context, { user_id, kind }: WorkspaceMember): string {
  if (kind === 'service_account') return 'service_account.deleted'
  return user_id === ctx.person.user_id ? 'member.left' : 'member.removed'
}

export type Members = ReturnType<typeof makeMembers>
