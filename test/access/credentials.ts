import { type Cases, type Cast, type Expected, kinds, rows, withChanges } from './matrix.ts'

// The share `use` makes a person the resource viewer, `edit` makes them the resource member. Other members do not learn
// that the credential exists. Owners of the workspace can see and revoke every credential, but use only credentials
// shared with them.

const looking = withChanges(rows.hiddenAnyMember, { workspaceOwner: 'ok' })
const using = withChanges(rows.hiddenAnyMember, { workspaceOwner: 403 })
const changing = withChanges(rows.hiddenOwnerOrMember, { workspaceOwner: 403 })
const revoking = withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 'ok' })

const newCredential = { name: 'Case', kind: 'bearer', hosts: ['api.invalid'], secrets: { token: 'a-token-of-a-case' } }

const everybody = (status: number) => Object.fromEntries(kinds.map((kind) => [kind, status])) as Expected

async function credential({ author, resourceViewer, resourceMember }: Cast, more: object = {}) {
  const { body } = await author.call('POST', '/api/credentials', {
    body: {
      ...newCredential,
      ...more,
      shared: [resourceViewer, resourceMember]
        .filter(({ id }) => id !== author.id)
        .map(({ id }, at) => ({ kind: 'user', id, role: at === 0 ? 'use' : 'edit' })),
    },
  })
  return { params: { credential_id: body.credential_id as string } }
}

export const credentialCases: Cases = {
  listCredentials: { expect: rows.selectedRead },
  createCredential: { expect: rows.selectedWrite, prepare: async () => ({ body: newCredential }) },
  getCredential: { expect: looking, prepare: credential },
  updateCredential: {
    expect: changing,
    prepare: async (cast) => ({ ...(await credential(cast)), body: { name: 'Renamed' } }),
  },
  revokeCredential: { expect: revoking, prepare: credential },
  rotateSecret: {
    expect: changing,
    prepare: async (cast) => ({ ...(await credential(cast)), body: { secrets: { token: 'another-token' } } }),
  },
  testCredential: { expect: using, prepare: async (cast) => ({ ...(await credential(cast)), body: {} }) },
  getCredentialUsage: { expect: looking, prepare: credential },
  authorizeCredential: {
    // Only a browser can continue from here: with an API key, every caller who has the right gets a conflict.
    expect: withChanges(changing, { author: 409, resourceMember: 409 }),
    prepare: async (cast) => {
      const { params } = await credential(cast, {
        kind: 'oauth2_code',
        config: { authorize_url: 'https://a.invalid/', token_url: 'https://a.invalid/', client_id: 'c' },
        secrets: { client_secret: 'a-client-secret' },
      })
      return { params, body: {} }
    },
  },
  finishAuthorization: { expect: everybody(401) },
  getWorkspaceModel: {
    expect: rows.workspaceRead,
    prepare: async ({ workspace }) => ({ params: { workspace_id: workspace.id } }),
  },
  chooseWorkspaceModel: {
    expect: rows.workspaceOwnerOnly,
    prepare: async ({ workspace }) => ({ params: { workspace_id: workspace.id }, body: { credential_id: null } }),
  },
  listCredentialKinds: { expect: rows.signedIn },
}
