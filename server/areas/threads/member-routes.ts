import { orOneself, owner, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { ThreadMembers } from './members.ts'
import { Invitation, MemberPatch, NewInvitation, ThreadMember, threadMemberList } from './schema.ts'

export const threadMemberRoutes = (members: ThreadMembers): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      inviteThreadMember: ['POST', '/api/chat-thread/:thread_id/invite', owner('thread')],
      listThreadMembers: ['GET', '/api/chat-thread/:thread_id/members', viewer('thread')],
      updateThreadMember: ['PATCH', '/api/chat-thread/:thread_id/members/:user_id', owner('thread')],
      removeThreadMember: ['DELETE', '/api/chat-thread/:thread_id/members/:user_id', orOneself(owner('thread'))],
    },
    {
      inviteThreadMember: {
        summary: 'Invite a person to the thread by e-mail',
        description: 'A person of the workspace is added at once; another person is invited to this thread only.',
        body: NewInvitation,
        examples: { body: { email: 'ada@example.com', role: 'member' } },
        answer: Invitation,
        status: 201,
        location: (_invitation, path) => path.replace(/invite$/, 'members'),
        run: members.inviteMember,
      },
      listThreadMembers: {
        summary: 'Members of the thread',
        query: threadMemberList.query,
        answer: page(ThreadMember),
        run: members.listMembers,
      },
      updateThreadMember: {
        summary: "Change a member's role",
        body: MemberPatch,
        answer: ThreadMember,
        current: members.getMember,
        run: members.updateMember,
      },
      removeThreadMember: {
        summary: 'Remove a member, or leave',
        status: 204,
        current: members.getMember,
        run: members.removeMember,
      },
    },
  )
