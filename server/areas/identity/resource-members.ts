import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import type { Invitations } from './invitations.ts'

// The members of a resource with owners: a thread or a job. At least one owner remains. A member who is not an owner
// may only leave.

type Member = { user_id: string; role: string }

type At = { id: string; user_id: string }

export type MembersOf<Row extends Member, Resource> = {
  noun: 'job' | 'thread'
  invitations: Pick<Invitations, 'revokeOf'>
  store: {
    findMember(tx: Tx, workspaceId: string, id: string, userId: string): Promise<Row | undefined>
    listMembers(
      tx: Tx,
      workspaceId: string,
      id: string,
      asked: ListInput,
    ): Promise<{ items: Row[]; next_cursor: string | null }>
    countOwners(tx: Tx, workspaceId: string, id: string): Promise<number>
    setRole(tx: Tx, workspaceId: string, id: string, userId: string, role: Row['role']): Promise<unknown>
    deleteMember(tx: Tx, workspaceId: string, id: string, userId: string): Promise<unknown>
  }
  /** Serializes changes of the members. Returns undefined if the resource is deleted. */
  lock(ctx: Context, id: string): Promise<Resource | undefined>
  roleOf(ctx: Context, id: string): Promise<string | undefined>
  /** Further effects of a change, in its transaction: the audit log and notifications. */
  onRoleChanged(ctx: Context, resource: Resource, at: At, change: { from: Row['role']; to: Row['role'] }): Promise<void>
  onRemoved(ctx: Context, resource: Resource, at: At, member: Row): Promise<void>
}

export function makeResourceMembers<Row extends Member, Resource>(of: MembersOf<Row, Resource>) {
  const { noun, store, invitations } = of

  async function getMember(ctx: Context, { id, user_id }: At): Promise<Row> {
    const member = await store.findMember(ctx.tx, ctx.workspace.workspace_id, id, user_id)
    if (!member) throw problem('not_found')
    return member
  }

  /** Locks the resource and checks the caller's role again, because two owners may act at once. */
  async function takeTurn(ctx: Context, { id, user_id }: At): Promise<Resource> {
    const resource = await of.lock(ctx, id)
    const role = await of.roleOf(ctx, id)
    if (resource === undefined || role === undefined) throw problem('not_found')
    if (role !== 'owner' && user_id !== ctx.person.user_id)
      throw problem('forbidden', `Only an owner of the ${noun} may do this.`)
    return resource
  }

  async function keepAnOwner(ctx: Context, member: Row, id: string): Promise<void> {
    if (member.role === 'owner' && (await store.countOwners(ctx.tx, ctx.workspace.workspace_id, id)) === 1)
      throw problem('last_owner', `Make another person an owner of the ${noun} first.`)
  }

  return {
    getMember,
    takeTurn,

    listMembers: (ctx: Context, { id, ...asked }: { id: string } & ListInput) =>
      store.listMembers(ctx.tx, ctx.workspace.workspace_id, id, asked),

    /** `takeTurn` also allows people to leave. Only owners may change a role, so no user id is passed. */
    async updateMember(ctx: Context, at: At, role: Row['role']): Promise<Row> {
      const { workspace_id } = ctx.workspace
      const resource = await takeTurn(ctx, { id: at.id, user_id: '' })
      const before = await getMember(ctx, at)
      if (before.role === role) return before
      await keepAnOwner(ctx, before, at.id)
      await store.setRole(ctx.tx, workspace_id, at.id, at.user_id, role)
      if (before.role === 'owner') await invitations.revokeOf(ctx.tx, workspace_id, at.user_id, { resourceId: at.id })
      await of.onRoleChanged(ctx, resource, at, { from: before.role, to: role })
      return { ...before, role }
    },

    async removeMember(ctx: Context, at: At): Promise<void> {
      const { workspace_id } = ctx.workspace
      const resource = await takeTurn(ctx, at)
      const member = await getMember(ctx, at)
      await keepAnOwner(ctx, member, at.id)
      await store.deleteMember(ctx.tx, workspace_id, at.id, at.user_id)
      await invitations.revokeOf(ctx.tx, workspace_id, at.user_id, { resourceId: at.id })
      await of.onRemoved(ctx, resource, at, member)
    },
  }
}
