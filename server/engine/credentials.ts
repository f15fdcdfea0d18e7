import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { LanguageModel } from '#providers/llm/index'
import { type NodeCall, NodeFailure } from './node.ts'

/** Opens a credential for the person the execution acts for. The credentials area implements it. Throws NodeFailure. */
export type OpenCredential = (wanted: {
  workspaceId: string
  executionId: string
  principalId: string | null
  /** The id as written in the definition. */
  credentialId: string
}) => Promise<OutgoingCredential>

/** The argument of a node that names a credential. Its value is written in the definition, never computed. */
export const credentialField = (title = 'Credential') => ({
  type: 'string',
  title,
  description: 'Added when the request is sent. It never appears in expressions or results',
  'x-id': 'cred',
  'x-value': 'literal',
})

/**
 * Opens the credential that an argument names. An expression can produce a whole object, and with it an id that the
 * author never wrote, so only ids that are in the definition itself are accepted.
 */
export async function openNamed(
  open: OpenCredential | undefined,
  call: Pick<NodeCall, 'workspaceId' | 'executionId' | 'principalId' | 'credentialIds'>,
  named: unknown,
): Promise<OutgoingCredential | undefined> {
  if (named === undefined || named === null) return undefined
  const { workspaceId, executionId, principalId, credentialIds } = call
  if (open === undefined || typeof named !== 'string' || !credentialIds.has(named))
    throw new NodeFailure('credential_not_allowed', 'a credential is named in the definition, never computed', {
      retryable: false,
    })
  return open({ workspaceId, executionId, principalId, credentialId: named })
}

/** Chooses the language model that answers. The ids are those written in the definition. */
export type ChooseModel = (wanted: {
  workspaceId: string
  principal: { executionId: string; principalId?: string | null } | { userId: string | null }
  /** The node that calls the model. The cost is counted for this node. */
  nodePath?: string | undefined
  /** The conversation in which the model is called. */
  threadId?: string | undefined
  credentialId?: string | undefined
  fallbackCredentialId?: string | undefined
}) => Promise<LanguageModel>

/** The fields of a node that calls a language model. */
export const modelCredentialFields = {
  credential_id: credentialField('Language model'),
  fallback_credential_id: {
    ...credentialField('Second language model'),
    description: 'Used when the first one is unavailable',
  },
}

/**
 * Returns the model that the node names, otherwise the model of the workspace, otherwise the model of the
 * installation.
 */
export async function modelFor(choose: ChooseModel, call: NodeCall): Promise<LanguageModel> {
  const { args, workspaceId, executionId, principalId, credentialIds, nodePath } = call
  const named = (value: unknown): string | undefined => {
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string' && credentialIds.has(value)) return value
    throw new NodeFailure('credential_not_allowed', 'a credential is named in the definition, never computed', {
      retryable: false,
    })
  }
  return choose({
    workspaceId,
    principal: { executionId, principalId },
    nodePath,
    credentialId: named(args.credential_id),
    fallbackCredentialId: named(args.fallback_credential_id),
  })
}
