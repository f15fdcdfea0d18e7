import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

const account = async ({ workspaceOwner }: Cast) => {
  const { body } = await workspaceOwner.call('POST', '/api/service-accounts', { body: { name: 'Case' } })
  return { params: { user_id: body.user_id as string } }
}

const key = async (cast: Cast) => {
  const { params } = await account(cast)
  const path = `/api/service-accounts/${params.user_id}/keys`
  const { body } = await cast.workspaceOwner.call('POST', path, { body: { name: 'Case' } })
  return { params: { ...params, key_id: body.key_id as string } }
}

const reading = withChanges(rows.selectedRead, { stranger: 404, operator: 404 })
// Owners of other workspaces are owners in the workspace they have selected, which has no such account.
const owning = withChanges(rows.selectedOwnerOnly, { stranger: 404, operator: 404 })

/** The author of the cast is not an owner, so the tests of the area compare the responses to foreign ids. */
const plainParameters = ['user_id', 'key_id']

export const serviceAccountCases: Cases = {
  listServiceAccounts: { expect: rows.selectedRead },
  createServiceAccount: { expect: rows.selectedOwnerOnly, prepare: async () => ({ body: { name: 'Case' } }) },
  getServiceAccount: { expect: reading, prepare: account },
  updateServiceAccount: {
    expect: owning,
    prepare: async (cast) => ({ ...(await account(cast)), body: { role: 'viewer' } }),
    plainParameters,
  },
  deleteServiceAccount: { expect: owning, prepare: account, plainParameters },
  listServiceAccountKeys: { expect: owning, prepare: account, plainParameters },
  createServiceAccountKey: {
    expect: owning,
    prepare: async (cast) => ({ ...(await account(cast)), body: { name: 'Case' } }),
    plainParameters,
  },
  getServiceAccountKey: { expect: owning, prepare: key, plainParameters },
  deleteServiceAccountKey: { expect: owning, prepare: key, plainParameters },
}
