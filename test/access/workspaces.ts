import { fromWire } from '#platform/ids'
import { freshEmail } from '#test/harness/browser'
import { addMember, makePerson } from '#test/harness/world'
import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

const workspace = async (cast: Cast) => ({ params: { workspace_id: cast.workspace.id } })

const withMember = async (cast: Cast) => {
  const person = await makePerson(cast.service)
  await addMember(cast.service, cast.workspace, person, 'member')
  return { params: { workspace_id: cast.workspace.id, user_id: person.id } }
}

const withInvitation = async (cast: Cast) => {
  const { body } = await cast.workspaceOwner.call('POST', `/api/workspaces/${cast.workspace.id}/members/invite`, {
    body: { email: freshEmail() },
  })
  return { params: { workspace_id: cast.workspace.id, invitation_id: body.invitation_id as string } }
}

/** Prepares a workspace to delete, in which the cast has the same roles. */
const doomed = async (cast: Cast) => {
  const { body } = await cast.workspaceOwner.call('POST', '/api/workspaces', { body: { name: 'Doomed' } })
  await cast.service.sql(
    `insert into memberships (workspace_id, user_id, role)
     select w.workspace_id, m.user_id, m.role from workspaces w, memberships m
     where m.workspace_id = $1 and w.workspace_id = $2 on conflict do nothing`,
    [cast.workspace.uuid, fromWire('ws', body.workspace_id)],
  )
  return { params: { workspace_id: body.workspace_id as string } }
}

const suspended = async (cast: Cast) => {
  const prepared = await doomed(cast)
  await cast.service.sql(`insert into workspace_suspensions (workspace_id, reason) values ($1, 'Unpaid')`, [
    fromWire('ws', prepared.params.workspace_id),
  ])
  return prepared
}

// The routes for owners refuse all other callers before they check the ids in the path; tests of the area compare those
// responses.
export const workspaceCases: Cases = {
  listWorkspaces: { expect: rows.signedIn },
  getSavedViews: { expect: rows.selectedRead },
  setSavedViews: {
    expect: rows.selectedRead,
    prepare: async () => ({ body: { views: [{ list: 'runs', name: 'Broken', filters: { status: 'failed' } }] } }),
  },
  createWorkspace: { expect: rows.signedIn, prepare: async () => ({ body: { name: 'Made' } }) },
  getWorkspace: { expect: withChanges(rows.workspaceRead, { guest: 'ok' }), prepare: workspace },
  updateWorkspace: {
    expect: rows.workspaceOwnerOnly,
    prepare: async (cast) => ({ ...(await workspace(cast)), body: { name: 'Renamed' } }),
  },
  deleteWorkspace: { expect: rows.workspaceOwnerOnly, prepare: doomed },
  listTenants: { expect: rows.operators },
  suspendWorkspace: {
    expect: rows.operators,
    prepare: async (cast) => ({ ...(await doomed(cast)), body: { suspended: true, reason: 'Unpaid' } }),
    plainParameters: ['workspace_id'],
  },
  deleteTenant: { expect: rows.operators, prepare: suspended, plainParameters: ['workspace_id'] },
  // API keys keep no selection, so every caller who may select a workspace gets 409.
  selectWorkspace: {
    expect: withChanges(rows.workspaceRead, {
      guest: 409,
      viewer: 409,
      member: 409,
      resourceViewer: 409,
      resourceMember: 409,
      author: 409,
      workspaceOwner: 409,
    }),
    prepare: workspace,
  },
  listWorkspaceMembers: { expect: rows.workspaceRead, prepare: workspace },
  inviteToWorkspace: {
    expect: rows.workspaceOwnerOnly,
    prepare: async (cast) => ({ ...(await workspace(cast)), body: { email: freshEmail() } }),
  },
  updateWorkspaceMember: {
    expect: rows.workspaceOwnerOnly,
    prepare: async (cast) => ({ ...(await withMember(cast)), body: { role: 'viewer' } }),
    plainParameters: ['user_id'],
  },
  removeWorkspaceMember: { expect: rows.workspaceOwnerOnly, prepare: withMember, plainParameters: ['user_id'] },
  listInvitations: { expect: rows.workspaceOwnerOnly, prepare: workspace },
  revokeInvitation: {
    expect: rows.workspaceOwnerOnly,
    prepare: withInvitation,
    plainParameters: ['invitation_id'],
  },
  listAuditLog: { expect: rows.selectedOwnerOnly },
  exportAuditLog: { expect: rows.selectedOwnerOnly },
}
