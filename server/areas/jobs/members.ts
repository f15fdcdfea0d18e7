import type { z } from 'zod'
import type { Invitations, InviteAnswer } from '#areas/identity/invitations'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { toWire } from '#platform/ids'
import * as store from './members-store.ts'
import type { JobMember, NewJobInvitation, RoleChange } from './schema.ts'
import { roleInJob } from './standing.ts'
import { isPinned, type JobRow, lockJob } from './store.ts'

type ById = { job_id: string }
type OneMember = ById & { user_id: string }

/** Owners of the workspace read the log, and may not know of a pinned job. */
const audited = (job: JobRow): { job_id?: string } => (isPinned(job) ? {} : { job_id: toWire('job', job.job_id) })

export function makeJobMembers({ invitations }: { invitations: Invitations }) {
  const getMember = async (ctx: Context, { job_id, user_id }: OneMember): Promise<JobMember> => {
    const member = await store.findMember(ctx.tx, ctx.workspace.workspace_id, job_id, user_id)
    if (!member) throw problem('not_found')
    return member
  }

  /** Takes the turn, and asks again whether the caller still is what the access check saw: two owners may act at once. */
  async function takeTurn(ctx: Context, { job_id, user_id }: OneMember): Promise<JobRow> {
    const workspaceId = ctx.workspace.workspace_id
    const job = await lockJob(ctx.tx, workspaceId, job_id)
    const role = await roleInJob(ctx.tx, workspaceId, ctx.person.user_id, job_id)
    if (!job || role === undefined) throw problem('not_found')
    if (role !== 'owner' && user_id !== ctx.person.user_id)
      throw problem('forbidden', 'Only an owner of the job may do this.')
    return job
  }

  async function keepAnOwner(ctx: Context, member: JobMember, jobId: string): Promise<void> {
    if (member.role === 'owner' && (await store.countOwners(ctx.tx, ctx.workspace.workspace_id, jobId)) === 1)
      throw problem('last_owner', 'Make somebody else an owner of the job first.')
  }

  return {
    getMember,

    async listMembers(ctx: Context, { job_id, cursor, limit }: ById & ListQuery) {
      const rows = await store.listMembers(ctx.tx, ctx.workspace.workspace_id, job_id, decodeIdCursor(cursor), limit)
      return toPage(rows, limit, (row) => [row.user_id])
    },

    async inviteMember(ctx: Context, input: ById & z.output<typeof NewJobInvitation>): Promise<InviteAnswer> {
      const { job_id, email, role } = input
      const job = await takeTurn(ctx, { job_id, user_id: '' })
      const there = await ctx.tx.maybe(
        `select from job_members m join users u on u.user_id = m.user_id where m.workspace_id = $1 and m.job_id = $2 and u.email = $3`,
        [ctx.workspace.workspace_id, job_id, email],
      )
      if (there) throw problem('already_exists', `${email} is a member of the job already; change the role there.`)
      const isHidden = isPinned(job)
      const resource = { kind: 'job' as const, id: job_id, isHidden }
      // Anyone who may not see a pinned job must not learn of it by being made a member of it.
      const seenBy = async (userId: string) =>
        (await roleInJob(ctx.tx, ctx.workspace.workspace_id, userId, job_id)) !== undefined
      return invitations.invite(ctx, { email, role, to: isHidden ? 'a job' : job.name, resource, seenBy })
    },

    async updateMember(ctx: Context, input: OneMember & z.output<typeof RoleChange>): Promise<JobMember> {
      const { job_id, user_id, role } = input
      const workspaceId = ctx.workspace.workspace_id
      const job = await takeTurn(ctx, { job_id, user_id: '' })
      const before = await getMember(ctx, input)
      if (before.role === role) return before
      await keepAnOwner(ctx, before, job_id)
      await store.putMember(ctx.tx, workspaceId, job_id, user_id, role)
      await store.settleOwner(ctx.tx, workspaceId, job_id)
      if (before.role === 'owner') await invitations.revokeOf(ctx.tx, workspaceId, user_id, { resourceId: job_id })
      await recordAudit(ctx, ctx.tx, {
        action: 'job.role_changed',
        subject: toWire('usr', user_id),
        data: { ...audited(job), from: before.role, to: role },
      })
      ctx.tx.hint('access', user_id)
      return { ...before, role }
    },

    async removeMember(ctx: Context, input: OneMember): Promise<void> {
      const { job_id, user_id } = input
      const workspaceId = ctx.workspace.workspace_id
      const job = await takeTurn(ctx, input)
      const member = await getMember(ctx, input)
      await keepAnOwner(ctx, member, job_id)
      await store.deleteMember(ctx.tx, workspaceId, job_id, user_id)
      await store.settleOwner(ctx.tx, workspaceId, job_id)
      await invitations.revokeOf(ctx.tx, workspaceId, user_id, { resourceId: job_id })
      await recordAudit(ctx, ctx.tx, {
        action: user_id === ctx.person.user_id ? 'job.member_left' : 'job.member_removed',
        subject: toWire('usr', user_id),
        data: audited(job),
      })
      ctx.tx.hint('access', user_id)
    },
  }
}

export type JobMembers = ReturnType<typeof makeJobMembers>
