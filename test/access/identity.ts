import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { freshEmail } from '#test/harness/browser'
import { type Cases, type Cast, type Expected, kinds, rows, withChanges } from './matrix.ts'

const everybody = (status: number): Expected => Object.fromEntries(kinds.map((kind) => [kind, status])) as Expected
/** Callers who are signed in get `status`; all others get 401. */
const signedInGets = (status: number): Expected => withChanges(everybody(status), { nobody: 401, wrongToken: 401 })

const account = async () => ({ body: { email: freshEmail(), password: 'correct horse', name: 'Somebody' } })

const sessionOfAuthor = async ({ author, service }: Cast) => {
  const session = newId()
  await service.sql(
    `insert into sessions (session_id, user_id, token_hash, expires_at) values ($1, $2, $3, now() + interval '1 day')`,
    [session, author.uuid, hashSecret(newSecret('ses'))],
  )
  return { params: { session_id: toWire('ses', session) } }
}

const keyOfAuthor = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/auth/api-keys', { body: { name: 'case' } })
  return { params: { key_id: body.key_id as string } }
}

const invitation = async ({ workspace, workspaceOwner }: Cast) => {
  const { body } = await workspaceOwner.call('POST', `/api/workspaces/${workspace.id}/members/invite`, {
    body: { email: freshEmail() },
    headers: { 'x-workspace-id': workspace.id },
  })
  return { params: { token: (body.link as string).split('/').at(-1)! } }
}

const unknownProvider = async () => ({ params: { provider: 'none' } })

export const identityCases: Cases = {
  signUp: { expect: rows.anyone, prepare: account, afterFirst: { body: {} } },
  signIn: {
    expect: everybody(401),
    prepare: async () => ({ body: { email: freshEmail(), password: 'not a password' } }),
  },
  getAuthOptions: { expect: rows.anyone },
  // No mail server is set, so no mail is sent and no token is valid.
  confirmSignUp: {
    expect: everybody(404),
    prepare: async () => ({ body: { token: 'sgn_none', password: 'not a password' } }),
  },
  sendVerification: { expect: signedInGets(503) },
  confirmEmail: { expect: everybody(404), prepare: async () => ({ body: { token: 'vfy_none' } }) },
  forgotPassword: { expect: everybody(503), prepare: async () => ({ body: { email: freshEmail() } }) },
  resetPassword: {
    expect: everybody(404),
    prepare: async () => ({ body: { token: 'rst_none', password: 'a new password' } }),
  },
  finishSignIn: {
    expect: everybody(401),
    prepare: async () => ({ body: { challenge: 'mfa_none', code: '123456' } }),
  },
  describeSecondFactor: { expect: everybody(401), prepare: async () => ({ body: { challenge: 'mfa_none' } }) },
  beginPasskeySignIn: { expect: rows.anyone },
  finishPasskeySignIn: { expect: everybody(401), prepare: async () => ({ body: { passkey: {} } }) },
  getSecondFactors: { expect: rows.signedIn },
  // Second factors can be changed only in a browser; with an API key the status is 409.
  beginTotp: { expect: signedInGets(409) },
  confirmTotp: { expect: signedInGets(409), prepare: async () => ({ body: { code: '123456' } }) },
  removeTotp: { expect: signedInGets(409) },
  renewRecoveryCodes: { expect: signedInGets(409) },
  beginPasskey: { expect: signedInGets(409) },
  addPasskey: {
    expect: signedInGets(409),
    prepare: async () => ({ body: { challenge: 'mfa_none', name: 'Key', response: {} } }),
  },
  removePasskey: {
    expect: signedInGets(409),
    prepare: async () => ({ params: { passkey_id: toWire('psk', newId()) } }),
    plainParameters: ['passkey_id'],
  },
  signOut: { expect: rows.signedIn },
  getMe: { expect: rows.signedIn },
  // The people of the cast have no password, so the current password is always wrong.
  changePassword: {
    expect: signedInGets(422),
    prepare: async () => ({ body: { current_password: 'none', new_password: 'a new password' } }),
  },
  listSessions: { expect: rows.signedIn },
  endSessions: { expect: rows.signedIn },
  endSession: { expect: rows.ownOnly, prepare: sessionOfAuthor },
  listApiKeys: { expect: rows.signedIn },
  createApiKey: { expect: rows.signedIn, prepare: async () => ({ body: { name: 'case' } }) },
  getApiKey: { expect: rows.ownOnly, prepare: keyOfAuthor },
  deleteApiKey: { expect: rows.ownOnly, prepare: keyOfAuthor },
  deleteApiKeys: {
    expect: rows.signedIn,
    prepare: async (cast) => ({ body: { key_ids: [(await keyOfAuthor(cast)).params!.key_id] } }),
  },
  previewInvitation: { expect: rows.anyone, prepare: invitation, plainParameters: ['token'] },
  // A person who is signed in with another address is refused; a new person is accepted.
  acceptInvitation: {
    expect: withChanges(everybody(404), { nobody: 'ok', wrongToken: 'ok' }),
    prepare: async (cast) => ({ ...(await invitation(cast)), body: { name: 'New', password: 'correct horse' } }),
    plainParameters: ['token'],
  },
  listOidcProviders: { expect: rows.anyone },
  startOidc: { expect: everybody(404), prepare: unknownProvider, plainParameters: ['provider'] },
  finishOidc: { expect: everybody(404), prepare: unknownProvider, plainParameters: ['provider'] },
  // Linking works only in a browser; with an API key the status is 409 before the provider is checked.
  linkOidc: { expect: signedInGets(409), prepare: unknownProvider, plainParameters: ['provider'] },
  unlinkOidc: { expect: signedInGets(404), prepare: unknownProvider, plainParameters: ['provider'] },
}
