import { Invitation } from '#areas/workspaces/schema'
import { orOneself, owner, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { JobMembers } from './members.ts'
import { JobMember, jobMemberList, NewJobInvitation, RoleChange } from './schema.ts'

export const jobMemberRoutes = (members: JobMembers): AnyRoute[] =>
  routes(
    'Enrichment jobs',
    {
      listJobMembers: ['GET', '/api/enrichment-jobs/:job_id/members', viewer('job')],
      inviteJobMember: ['POST', '/api/enrichment-jobs/:job_id/members/invite', owner('job')],
      updateJobMember: ['PUT', '/api/enrichment-jobs/:job_id/members/:user_id', owner('job')],
      removeJobMember: ['DELETE', '/api/enrichment-jobs/:job_id/members/:user_id', orOneself(owner('job'))],
    },
    {
      listJobMembers: {
        summary: 'Members of the job',
        description:
          'A pinned job keeps its members, but they see it only while it is standalone or after its workflow was deleted.',
        query: jobMemberList.query,
        answer: page(JobMember),
        run: members.listMembers,
      },
      inviteJobMember: {
        summary: 'Invite a person to the job by e-mail',
        body: NewJobInvitation,
        answer: Invitation,
        status: 201,
        location: (_invitation, path) => path.replace(/\/invite$/, ''),
        examples: { body: { email: 'sam@example.com', role: 'viewer' } },
        run: members.inviteMember,
      },
      updateJobMember: {
        summary: 'Change the role of a member; the last owner cannot be changed',
        body: RoleChange,
        answer: JobMember,
        current: members.getMember,
        examples: { body: { role: 'viewer' } },
        run: members.updateMember,
      },
      removeJobMember: {
        summary: 'Remove a member, or leave the job',
        status: 204,
        current: members.getMember,
        run: members.removeMember,
      },
    },
  )
