import type { z } from 'zod'
import type { Invitations, InviteAnswer } from '#areas/identity/invitations'
import { makeResourceMembers } from '#areas/identity/resource-members'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import * as store from './members-store.ts'
import { roleInJob } from './rights.ts'
import type { JobMember, NewJobInvitation, RoleChange } from './schema.ts'
import { isPinned, type JobRow, lockJob } from './store.ts'

type ById = { job_id: string }
type OneMember = ById & { user_id: string }

/** Owners of the workspace read the audit log and may not know about a pinned job, so its id is omitted. */
const audited = (job: JobRow): { job_id?: string } => (isPinned(job) ? {} : { job_id: toWire('job', job.job_id) })

/** Ensures that `owner_id` of the job is still an owner after the change. */
async function settle(ctx: Context, jobId: string, userId: string): Promise<void> {
  await store.settleOwner(ctx.tx, ctx.workspace.workspace_id, jobId)
  ctx.tx.hint('access', userId)
}

export function makeJobMembers({ invitations }: { invitations: Invitations }) {
  const members = makeResourceMembers<JobMember, JobRow>({
    noun: 'job',
    invitations,
    store: {
      findMember: store.findMember,
      listMembers: store.listMembers,
      countOwners: store.countOwners,
      setRole: store.putMember,
      deleteMember: store.deleteMember,
    },
    lock: (ctx, id) => lockJob(ctx.tx, ctx.workspace.workspace_id, id),
    roleOf: (ctx, id) => roleInJob(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, id),
    async onRoleChanged(ctx, job, { id, user_id }, { from, to }) {
      await settle(ctx, id, user_id)
      const data = { ...audited(job), from, to }
      await recordAudit(ctx, ctx.tx, { action: 'job.role_changed', subject: toWire('usr', user_id), data })
    },
    async onRemoved(ctx, job, { id, user_id }) {
      await settle(ctx, id, user_id)
      const action = user_id === ctx.person.user_id ? 'job.member_left' : 'job.member_removed'
      await recordAudit(ctx, ctx.tx, { action, subject: toWire('usr', user_id), data: audited(job) })
    },
  })

  return {
    getMember: (ctx: Context, { job_id: id, user_id }: OneMember): Promise<JobMember> =>
      members.getMember(ctx, { id, user_id }),

    listMembers: (ctx: Context, { job_id: id, ...page }: ById & ListInput) => members.listMembers(ctx, { id, ...page }),

    async inviteMember(ctx: Context, input: ById & z.output<typeof NewJobInvitation>): Promise<InviteAnswer> {
      const { job_id, email, role } = input
      const job = await members.takeTurn(ctx, { id: job_id, user_id: '' })
      const there = await ctx.tx.maybe(
        `select from job_members m join users u on u.user_id = m.user_id where m.workspace_id = $1 and m.job_id = $2 and u.email = $3`,
        [ctx.workspace.workspace_id, job_id, email],
      )
      if (there) throw problem('already_exists', `${email} is a member of the job already; change the role there.`)
      const isHidden = isPinned(job)
      const resource = { kind: 'job' as const, id: job_id, isHidden }
      // A person who may not see a pinned job must not learn about it by becoming a member.
      const seenBy = async (userId: string) =>
        (await roleInJob(ctx.tx, ctx.workspace.workspace_id, userId, job_id)) !== undefined
      return invitations.invite(ctx, { email, role, to: isHidden ? 'a job' : job.name, resource, seenBy })
    },

    updateMember: (
      ctx: Context,
      { job_id: id, user_id, role }: OneMember & z.output<typeof RoleChange>,
    ): Promise<JobMember> => members.updateMember(ctx, { id, user_id }, role),

    removeMember: (ctx: Context, { job_id: id, user_id }: OneMember): Promise<void> =>
      members.removeMember(ctx, { id, user_id }),
  }
}

export type JobMembers = ReturnType<typeof makeJobMembers>
