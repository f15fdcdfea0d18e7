import type { z } from 'zod'
import type { Invitations, InviteAnswer, OnAccepted } from '#areas/identity/invitations'
import { makeResourceMembers } from '#areas/identity/resource-members'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import type { MemberPatch, NewInvitation, ThreadMember } from './schema.ts'
import * as store from './store.ts'

type InThread = { thread_id: string }
type ById = InThread & { user_id: string }

async function notifyRoleChanged(
  ctx: Context,
  { id, user_id }: { id: string; user_id: string },
  { from, to }: { from: string; to: string },
): Promise<void> {
  const { workspace_id } = ctx.workspace
  await recordAudit(ctx, ctx.tx, {
    action: 'thread.role_changed',
    subject: toWire('usr', user_id),
    data: { thread: toWire('thr', id), from, to },
  })
  if (user_id === ctx.person.user_id) return
  await deliverEvent(ctx.tx, {
    workspaceId: workspace_id,
    kind: 'thread.role_changed',
    title: `Your role in a thread is now ${to}`,
    body: `${ctx.person.name} changed your role from ${from} to ${to}.`,
    data: { thread_id: toWire('thr', id) },
    to: [user_id],
  })
}

export function makeThreadMembers({ invitations }: { invitations: Invitations }) {
  const members = makeResourceMembers<ThreadMember, true>({
    noun: 'thread',
    invitations,
    store: {
      findMember: store.findMember,
      listMembers: store.listMembers,
      countOwners: store.countOwners,
      setRole: store.updateRole,
      deleteMember: store.deleteMember,
    },
    async lock(ctx, id) {
      await store.lockThread(ctx.tx, ctx.workspace.workspace_id, id)
      return true
    },
    roleOf: (ctx, id) => store.findRole(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, id),
    onRoleChanged: (ctx, _thread, at, change) => notifyRoleChanged(ctx, at, change),
    onRemoved: (ctx, _thread, { id, user_id }, { role }) =>
      recordAudit(ctx, ctx.tx, {
        action: user_id === ctx.person.user_id ? 'thread.left' : 'thread.removed',
        subject: toWire('usr', user_id),
        data: { thread: toWire('thr', id), role },
      }),
  })

  return {
    getMember: (ctx: Context, { thread_id: id, user_id }: ById): Promise<ThreadMember> =>
      members.getMember(ctx, { id, user_id }),

    listMembers: (ctx: Context, { thread_id: id, ...page }: InThread & ListInput) =>
      members.listMembers(ctx, { id, ...page }),

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

    updateMember: (
      ctx: Context,
      { thread_id: id, user_id, role }: ById & z.output<typeof MemberPatch>,
    ): Promise<ThreadMember> => members.updateMember(ctx, { id, user_id }, role),

    removeMember: (ctx: Context, { thread_id: id, user_id }: ById): Promise<void> =>
      members.removeMember(ctx, { id, user_id }),
  }
}

export type ThreadMembers = ReturnType<typeof makeThreadMembers>

/** Runs in the transaction that accepts the invitation. The thread may have been deleted by then. */
export const addToThread: NonNullable<OnAccepted['thread']> = async (tx, accepted) => {
  const { workspaceId, resourceId, userId, role } = accepted
  if ((await store.addMember(tx, workspaceId, resourceId, userId, role)) === 0) throw problem('not_found')
}

/**
 * A person who leaves the workspace leaves its threads; a person who becomes a guest leaves the threads that they
 * owned. A thread without another owner goes to its longest-standing member. Without members, it goes to the person who
 * removed the owner, or to an owner of the workspace.
 */
export const reassignThreads: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  for (const threadId of await store.solelyOwned(tx, workspaceId, userId)) {
    await store.lockThread(tx, workspaceId, threadId)
    const heir =
      (await store.findHeir(tx, workspaceId, threadId, userId)) ??
      (byUserId === userId ? await store.findWorkspaceOwner(tx, workspaceId, userId) : byUserId)
    if (heir !== undefined) await store.addMember(tx, workspaceId, threadId, heir, 'owner')
  }
  await store.deleteOwner(tx, workspaceId, userId)
}
