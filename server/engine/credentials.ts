import type { OutgoingCredential } from '#platform/outgoing/credential'
import { type NodeCall, NodeFailure } from './node.ts'

/** What the area of credentials does for nodes: opens one for whoever the execution acts for. Throws NodeFailure. */
export type OpenCredential = (wanted: {
  workspaceId: string
  executionId: string
  /** As it stands in the definition. */
  credentialId: string
}) => Promise<OutgoingCredential>

/** The argument of a node that names a credential: written in the definition, never computed. */
export const credentialField = (title = 'Credential') => ({
  type: 'string',
  title,
  description: 'Put into the request where it leaves; no expression and no result ever holds it',
  'x-id': 'cred',
  'x-value': 'literal',
})

/**
 * Opens the credential that an argument names. A whole object may come out of an expression, and with it an id that the author
 * never wrote: only those that stand in the definition itself are opened.
 */
export async function openNamed(
  open: OpenCredential,
  { workspaceId, executionId, credentialIds }: Pick<NodeCall, 'workspaceId' | 'executionId' | 'credentialIds'>,
  named: unknown,
): Promise<OutgoingCredential | undefined> {
  if (named === undefined || named === null) return undefined
  if (typeof named !== 'string' || !credentialIds.has(named))
    throw new NodeFailure('credential_not_allowed', 'a credential is named in the definition, never computed', {
      retryable: false,
    })
  return open({ workspaceId, executionId, credentialId: named })
}
