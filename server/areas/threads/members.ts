import type { z } from 'zod'
import type { Invitations, InviteAnswer, OnAccepted } from '#areas/identity/invitations'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { toWire } from '#platform/ids'
import type { MemberPatch, NewInvitation, ThreadMember } from './schema.ts'
import * as store from './store.ts'

type InThread = { thread_id: string }
type ById = InThread & { user_id: string }

export function makeThreadMembers({ invitations }: { invitations: Invitations }) {
  const getMember = async (ctx: Context, { thread_id, user_id }: ById): Promise<ThreadMember> => {
    const member = await store.findMember(ctx.tx, ctx.workspace.workspace_id, thread_id, user_id)
    if (!member) throw problem('not_found')
    return member
  }

  /** Takes the turn, and asks again whether the caller still is what the access check saw. */
  const lockAsOwner = async (ctx: Context, { thread_id, user_id }: ById): Promise<void> => {
    const { workspace_id } = ctx.workspace
    await store.lockThread(ctx.tx, workspace_id, thread_id)
    const role = await store.findRole(ctx.tx, workspace_id, ctx.person.user_id, thread_id)
    if (role === undefined) throw problem('not_found')
    if (role !== 'owner' && user_id !== ctx.person.user_id)
      throw problem('forbidden', 'Only an owner of the thread may do this.')
  }

  const keepAnOwner = async (ctx: Context, threadId: string, member: ThreadMember): Promise<void> => {
    if (member.role === 'owner' && (await store.countOwners(ctx.tx, ctx.workspace.workspace_id, threadId)) === 1)
      throw problem('last_owner', 'Make somebody else an owner of the thread first.')
  }

  return {
    getMember,

    async listMembers(ctx: Context, { thread_id, cursor, limit }: InThread & ListQuery) {
      const rows = await store.listMembers(ctx.tx, ctx.workspace.workspace_id, thread_id, decodeIdCursor(cursor), limit)
      return toPage(rows, limit, (row) => [row.user_id])
    },

    async inviteMember(ctx: Context, input: InThread & z.output<typeof NewInvitation>): Promise<InviteAnswer> {
      const { thread_id, email, role } = input
      const { workspace_id } = ctx.workspace
      const reader = { user_id: ctx.person.user_id, role: ctx.workspace.role }
      const thread = await store.findThread(ctx.tx, workspace_id, reader, thread_id)
      if (!thread) throw problem('not_found')
      if (await store.isMemberByEmail(ctx.tx, workspace_id, thread_id, email))
        throw problem('already_exists', `${email} is in the thread already; change the role there.`)
      return invitations.invite(ctx, { email, role, to: thread.title, resource: { kind: 'thread', id: thread_id } })
    },

    async updateMember(ctx: Context, input: ById & z.output<typeof MemberPatch>): Promise<ThreadMember> {
      const { thread_id, user_id, role } = input
      const { workspace_id } = ctx.workspace
      await lockAsOwner(ctx, input)
      const before = await getMember(ctx, input)
      if (before.role === role) return before
      await keepAnOwner(ctx, thread_id, before)
      await store.updateRole(ctx.tx, workspace_id, thread_id, user_id, role)
      if (before.role === 'owner') await invitations.revokeOf(ctx.tx, workspace_id, user_id, { resourceId: thread_id })
      await recordAudit(ctx, ctx.tx, {
        action: 'thread.role_changed',
        subject: toWire('usr', user_id),
        data: { thread: toWire('thr', thread_id), from: before.role, to: role },
      })
      if (user_id !== ctx.person.user_id)
        await deliverEvent(ctx.tx, {
          workspaceId: workspace_id,
          kind: 'thread.role_changed',
          title: `Your role in a thread is now ${role}`,
          body: `${ctx.person.name} changed your role from ${before.role} to ${role}.`,
          data: { thread_id: toWire('thr', thread_id) },
          to: [user_id],
        })
      return { ...before, role }
    },

    async removeMember(ctx: Context, input: ById): Promise<void> {
      const { thread_id, user_id } = input
      const { workspace_id } = ctx.workspace
      await lockAsOwner(ctx, input)
      const member = await getMember(ctx, input)
      await keepAnOwner(ctx, thread_id, member)
      await recordAudit(ctx, ctx.tx, {
        action: user_id === ctx.person.user_id ? 'thread.left' : 'thread.removed',
        subject: toWire('usr', user_id),
        data: { thread: toWire('thr', thread_id), role: member.role },
      })
      await invitations.revokeOf(ctx.tx, workspace_id, user_id, { resourceId: thread_id })
      await store.deleteMember(ctx.tx, workspace_id, thread_id, user_id)
    },
  }
}

export type ThreadMembers = ReturnType<typeof makeThreadMembers>

/** In the transaction of the person who accepts: the thread may be gone by then. */
export const takeIntoThread: NonNullable<OnAccepted['thread']> = async (tx, accepted) => {
  const { workspaceId, resourceId, userId, role } = accepted
  if ((await store.addMember(tx, workspaceId, resourceId, userId, role)) === 0) throw problem('not_found')
}

/**
 * Anyone who leaves the workspace leaves its threads, anyone who becomes a guest those they owned; one that only they owned goes to
 * the member who has been in it longest, an empty one to the person who removed them, or to an owner of the workspace.
 */
export const passThreadsOn: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  for (const threadId of await store.solelyOwned(tx, workspaceId, userId)) {
    await store.lockThread(tx, workspaceId, threadId)
    const heir =
      (await store.findHeir(tx, workspaceId, threadId, userId)) ??
      (byUserId === userId ? await store.findWorkspaceOwner(tx, workspaceId, userId) : byUserId)
    if (heir !== undefined) await store.addMember(tx, workspaceId, threadId, heir, 'owner')
  }
  await store.deleteOwner(tx, workspaceId, userId)
}
