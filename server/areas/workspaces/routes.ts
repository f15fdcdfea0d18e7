import { orOneself, orOperator, owner, sees, signedIn, viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { exportAuditLog, listAuditLog } from './audit-log.ts'
import type { Members } from './members.ts'
import {
  AuditEntry,
  auditExportQuery,
  auditQuery,
  Invitation,
  invitationList,
  MemberPatch,
  memberList,
  NewInvitation,
  NewWorkspace,
  PendingInvitation,
  Workspace,
  WorkspaceMember,
  WorkspacePatch,
  workspaceList,
} from './schema.ts'
import type { Workspaces } from './service.ts'

type Services = { workspaces: Workspaces; members: Members }

const extension = true

export const workspaceRoutes = ({ workspaces, members }: Services): AnyRoute[] =>
  routes(
    'Workspaces',
    {
      listWorkspaces: ['GET', '/api/workspaces', signedIn],
      createWorkspace: ['POST', '/api/workspaces', signedIn, 'admin'],
      getWorkspace: ['GET', '/api/workspaces/:workspace_id', sees('workspace')],
      updateWorkspace: ['PATCH', '/api/workspaces/:workspace_id', owner('workspace')],
      deleteWorkspace: ['DELETE', '/api/workspaces/:workspace_id', owner('workspace')],
      selectWorkspace: ['POST', '/api/workspaces/:workspace_id/select', sees('workspace')],
      listWorkspaceMembers: ['GET', '/api/workspaces/:workspace_id/members', viewer('workspace')],
      inviteToWorkspace: ['POST', '/api/workspaces/:workspace_id/members/invite', owner('workspace')],
      updateWorkspaceMember: ['PATCH', '/api/workspaces/:workspace_id/members/:user_id', owner('workspace')],
      removeWorkspaceMember: [
        'DELETE',
        '/api/workspaces/:workspace_id/members/:user_id',
        orOneself(owner('workspace')),
      ],
      listInvitations: ['GET', '/api/workspaces/:workspace_id/invitations', owner('workspace')],
      revokeInvitation: ['DELETE', '/api/workspaces/:workspace_id/invitations/:invitation_id', owner('workspace')],
      listAuditLog: ['GET', '/api/audit-log', orOperator(workspaceOwner)],
      exportAuditLog: ['GET', '/api/audit-log/export', orOperator(workspaceOwner)],
    },
    {
      listWorkspaces: {
        summary: "The caller's workspaces, with the role held in each",
        extension,
        query: workspaceList.query,
        answer: page(Workspace),
        run: workspaces.listWorkspaces,
      },
      createWorkspace: {
        summary: 'Create a workspace, in the named company or in a new one; the caller becomes its owner',
        extension,
        body: NewWorkspace,
        answer: Workspace,
        status: 201,
        idempotency: 'anywhere',
        location: ({ workspace_id }) => `/api/workspaces/${workspace_id}`,
        examples: { body: { name: 'Sales' } },
        run: workspaces.createWorkspace,
      },
      getWorkspace: { summary: 'One workspace', extension, answer: Workspace, run: workspaces.getWorkspace },
      updateWorkspace: {
        summary: 'Rename a workspace, move it to another company of the caller, or ask its members for a second factor',
        extension,
        body: WorkspacePatch,
        answer: Workspace,
        current: workspaces.getWorkspace,
        run: workspaces.updateWorkspace,
      },
      deleteWorkspace: {
        summary: 'Delete a workspace and everything in it; its company stays',
        extension,
        status: 204,
        current: workspaces.getWorkspace,
        run: workspaces.deleteWorkspace,
      },
      selectWorkspace: {
        summary: 'Select it as the workspace of this session',
        extension,
        answer: Workspace,
        run: workspaces.selectWorkspace,
      },
      listWorkspaceMembers: {
        summary: 'The people of a workspace, guests included',
        extension,
        query: memberList.query,
        answer: page(WorkspaceMember),
        run: members.listMembers,
      },
      inviteToWorkspace: {
        summary: 'Invite a person by e-mail; a guest of the workspace gets the role at once',
        extension,
        body: NewInvitation,
        answer: Invitation,
        status: 201,
        location: ({ state }, path) => path.replace(/members\/invite$/, state === 'added' ? 'members' : 'invitations'),
        examples: { body: { email: 'ann@example.com', role: 'member' } },
        run: members.inviteMember,
      },
      updateWorkspaceMember: {
        summary: "Change a person's role; the last owner stays owner",
        extension,
        body: MemberPatch,
        answer: WorkspaceMember,
        current: members.getMember,
        run: members.updateMember,
      },
      removeWorkspaceMember: {
        summary: 'Remove a person, or leave; the last owner cannot',
        extension,
        status: 204,
        current: members.getMember,
        run: members.removeMember,
      },
      listInvitations: {
        summary: 'Invitations that are not accepted yet',
        extension,
        query: invitationList.query,
        answer: page(PendingInvitation),
        run: members.listInvitations,
      },
      revokeInvitation: {
        summary: 'Withdraw an invitation; its link stops working',
        extension,
        status: 204,
        current: members.getInvitation,
        run: members.revokeInvitation,
      },
      listAuditLog: {
        summary:
          'What was made, changed, exported and deleted in the selected workspace, newest first (operators: all)',
        extension,
        query: auditQuery,
        answer: page(AuditEntry),
        transaction: false,
        run: listAuditLog,
      },
      exportAuditLog: {
        summary: 'The audit log as JSON Lines, newest first, with the same filters',
        extension,
        query: auditExportQuery,
        produces: ['application/x-ndjson'],
        transaction: false,
        run: exportAuditLog,
      },
    },
  )
