import type { AnyRoute } from '#platform/http/route'
import { newId, toWire } from '#platform/ids'
import { type Case, type Kind, kinds, type Person } from './matrix.ts'

// Rules that every operation follows, and the operations that other tests check instead.

/** Returns a person who may call the operation and has an API key. */
export const ableOf = ({ expect }: Case): Person | undefined =>
  (['author', 'workspaceOwner', 'operator'] as const).find((kind) => expect[kind] === 'ok')

export const isChange = ({ method }: AnyRoute): boolean => ['PATCH', 'PUT', 'DELETE'].includes(method)

/** Operations that change something that no GET returns alone, so that no client can have its ETag. */
export const withoutCurrent = {
  clearWorkflowState: 'all of them at once',
  deleteTenant: 'operators see it nowhere alone',
  endSessions: 'all of them at once',
  receiveByDelete: 'a call of a webhook, whatever its method, starts a workflow',
  receiveByPatch: 'likewise',
  receiveByPut: 'likewise',
  suspendWorkspace: 'operators see it nowhere alone',
  trustWorkspace: 'operators see it nowhere alone',
  unlinkOidc: 'a link has no fields',
}

/** A body that every operation with a schema refuses. */
export const WRONG_BODY = { no_such_field: 1 }

/**
 * Fields that no body may set: fields that the server sets, ids of other tenants, and names that reach the prototype.
 */
export const stolen = (theirs: { user: string; workspace: string }): Record<string, unknown> => ({
  workspace_id: theirs.workspace,
  org_id: toWire('org', newId()),
  user_id: theirs.user,
  owner_id: theirs.user,
  created_by: theirs.user,
  operator: true,
  sha256: '0'.repeat(64),
  record_count: 7,
  token_hash: 'x',
  created_at: '2020-01-01T00:00:00.000Z',
  constructor: { prototype: { operator: true } },
})

export const takesFields = ({ method, body, bodyKind }: AnyRoute): boolean =>
  method !== 'GET' && method !== 'DELETE' && bodyKind === undefined && body !== undefined

const shapeOf = (schema: unknown): object => (schema as { shape?: object } | undefined)?.shape ?? {}

/** Returns the names of the fields in the body of the operation. */
export const fieldsOf = ({ body }: AnyRoute): Set<string> => new Set(Object.keys(shapeOf(body)))

export const hasCursor = ({ method, query }: AnyRoute): boolean => method === 'GET' && 'cursor' in shapeOf(query)

/** Cursors that no list has returned. */
export const forgedCursors: readonly string[] = [
  'nonsense',
  ...[['x'], [null], [1.5], [2 ** 40], [-1], ['x', 'y'], [null, null], [1, 'x'], ['2020-01-01', 'x'], [[1]], [{}]].map(
    (key) => Buffer.from(JSON.stringify(key)).toString('base64url'),
  ),
]

/** Operations whose proof of identity is in the body, so that the body is read first. */
const proofInBody = new Set(['answerInteraction', 'confirmEmail', 'confirmSignUp', 'resetPassword'])

/**
 * Returns the people who are refused before the body is read. `npm test` checks one who gets 403 and one who gets 404.
 */
export function refusedFirst(operation: string, { expect }: Case, isWhole: boolean): Person[] {
  if (proofInBody.has(operation)) return []
  const refused = (status: number): Person[] =>
    kinds.filter((kind): kind is Person => kind !== 'nobody' && kind !== 'wrongToken' && expect[kind] === status)
  return [403, 404].flatMap((status) => (isWhole ? refused(status) : refused(status).slice(0, 1)))
}

/**
 * Operations that need a mail, a passkey or an invitation to create something; other tests cover them. RFC 7591 defines
 * no address for a registered program.
 */
const madeElsewhere = new Set(['acceptInvitation', 'addPasskey', 'confirmSignUp', 'registerOAuthClient'])
export const makesSomething = ({ status, operation }: AnyRoute): boolean =>
  status === 201 && !madeElsewhere.has(operation)

/** Operations whose result changes in the background, so that its ETag soon changes: it is indexed, or evaluated. */
export const moving = new Set(['addKnowledgeDocument', 'createAlertRule'])

/**
 * Operations whose audit log entries are tested where their requirements exist: a mail, a passkey, a provider, a real
 * card, a channel.
 */
export const auditedElsewhere = new Set([
  'acceptInvitation',
  'addPasskey',
  'authorizeCredential',
  'changePassword',
  'confirmEmail',
  'confirmSignUp',
  'confirmTotp',
  'decideAuthorization',
  'finishPasskeySignIn',
  'finishSignIn',
  'removePasskey',
  'removeTotp',
  'renewRecoveryCodes',
  'resetPassword',
  'rotateKey',
  'sendVerification',
  'signIn',
  'unlinkOidc',
])

/** Returns who reads the result. If a token was used, the author reads it, because the author created the token. */
export const readerOf = (kind: Kind, token: string | undefined): Person =>
  token !== undefined || kind === 'nobody' || kind === 'wrongToken' ? 'author' : kind
