import type { AnyRoute } from '#platform/http/route'
import { type Case, type Kind, kinds, type Person } from './matrix.ts'

// What holds for every operation there is, and which ones are seen elsewhere.

/** Somebody who may call it and has an API key. */
export const ableOf = ({ expect }: Case): Person | undefined =>
  (['author', 'workspaceOwner', 'operator'] as const).find((kind) => expect[kind] === 'ok')

export const isChange = ({ method }: AnyRoute): boolean => ['PATCH', 'PUT', 'DELETE'].includes(method)

/** Changes of what is nowhere shown alone, so that nobody has an ETag of it. */
export const withoutCurrent = {
  clearWorkflowState: 'all of them at once',
  endSessions: 'all of them at once',
  receiveByDelete: 'a call of a webhook, whatever its method, starts a workflow',
  receiveByPatch: 'likewise',
  receiveByPut: 'likewise',
  trustWorkspace: 'operators see it nowhere alone',
  unlinkOidc: 'a link has no fields',
}

/** A body that every operation with a schema refuses. */
export const WRONG_BODY = { no_such_field: 1 }

/** What proves who is calling is in the body, so the body is read first. */
const proofInBody = new Set(['answerInteraction', 'confirmEmail', 'confirmSignUp', 'resetPassword'])

/** Those who are refused before the body is read; in short one who is told that they may not, and one to whom it is not there. */
export function refusedFirst(operation: string, { expect }: Case, isWhole: boolean): Person[] {
  if (proofInBody.has(operation)) return []
  const refused = (status: number): Person[] =>
    kinds.filter((kind): kind is Person => kind !== 'nobody' && kind !== 'wrongToken' && expect[kind] === status)
  return [403, 404].flatMap((status) => (isWhole ? refused(status) : refused(status).slice(0, 1)))
}

/** What they make needs a mail, a passkey or an invitation, and has tests of its own. */
const madeElsewhere = new Set(['acceptInvitation', 'addPasskey', 'confirmSignUp'])
export const makesSomething = ({ status, operation }: AnyRoute): boolean =>
  status === 201 && !madeElsewhere.has(operation)

/** Indexed in the background, which changes it: its ETag is another one soon. */
export const moving = new Set(['addKnowledgeDocument'])

/** Their entries in the audit log are tested with what they need: a mail, a passkey, a provider, a real card, a channel. */
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

/** Whoever holds the right token made it: the author looks at it. */
export const readerOf = (kind: Kind, token: string | undefined): Person =>
  token !== undefined || kind === 'nobody' || kind === 'wrongToken' ? 'author' : kind
